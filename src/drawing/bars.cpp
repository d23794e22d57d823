// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/bars.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/core.h>

#include "drawing/strips.hpp"

namespace nodewise::drawing {

namespace {

constexpr double bars_width = 560;
constexpr double bar_height = 14;
constexpr double bar_gap = 8;

double drawable_amount(double amount) {
  return amount > 0 && amount < 1e300 ? amount : 0;
}

double sum_of(const bar& of) {
  double sum = 0;
  for (const bar_part& each : of.parts) {
    sum += drawable_amount(each.amount);
  }
  return sum;
}

void draw_bar(svg& into, point at, const bar& of, double whole) {
  into.begin_part(fmt::format("{}{}{}", of.name, of.note.empty() ? "" : ": ", of.note));
  draw_label(into, {at.x, at.y + text_size}, bars_width, of.name, of.note, of.matters);
  into.end_part();
  const double top = at.y + line_height;
  into.missing_field({at.x, top, bars_width, bar_height});
  double x = at.x;
  for (const bar_part& each : of.parts) {
    const double room = at.x + bars_width - x;
    const double width = std::min(room, drawable_amount(each.amount) / whole * bars_width);
    if (width > 0) {
      into.begin_part(each.name.empty() ? of.name : fmt::format("{}, {}", of.name, each.name));
      into.field({x, top, width, bar_height}, each.colour);
      into.end_part();
      x += width;
    }
  }
}

} // namespace

area draw(svg& into, point at, const bars& what) {
  double whole = drawable_amount(what.whole);
  if (whole == 0) {
    for (const bar& each : what.rows) {
      whole = std::max(whole, sum_of(each));
    }
  }
  whole = whole > 0 ? whole : 1;
  const std::size_t shown = std::min(most_bars, what.rows.size());
  double y = at.y;
  double width = bars_width;
  if (!what.nodes.empty()) {
    constexpr std::size_t most_nodes_beside = 6;
    const area key = draw_key(into, at, what.nodes);
    width = what.nodes.size() > most_nodes_beside ? key.width : width;
    y = key.bottom() + bar_gap;
  }
  for (const bar& each : std::span(what.rows).first(shown)) {
    draw_bar(into, {at.x, y}, each, whole);
    y += line_height + bar_height + bar_gap;
  }
  if (shown < what.rows.size()) {
    into.text({at.x, y + text_size},
              fmt::format("{} more: see the table", what.rows.size() - shown),
              {.colour = shade::faint});
    y += line_height + bar_gap;
  }
  return {at.x, at.y, width, y - at.y};
}

} // namespace nodewise::drawing
