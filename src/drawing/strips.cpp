// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/strips.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "drawing/colours.hpp"
#include "drawing/labels.hpp"

namespace nodewise::drawing {

namespace {

constexpr double title_width = 150;
constexpr double strip_width = 720;
constexpr double strip_height = 22;
constexpr double between = 4;
constexpr std::size_t columns = strip_columns;

/// What is in one column: pages by node.
using column_pages = std::map<node_id, double>;

/// The part of the run that is in each column.
std::vector<column_pages> columns_of(const strip& what, std::uint64_t pages) {
  std::vector<column_pages> all(columns);
  const double per_column = static_cast<double>(pages) / static_cast<double>(columns);
  for (const strip_run& run : what.runs) {
    if (run.first >= pages) {
      continue; // a file may contradict itself
    }
    const auto begin = static_cast<double>(run.first);
    const double end = std::min(begin + static_cast<double>(run.count), static_cast<double>(pages));
    for (auto i = static_cast<std::size_t>(begin / per_column);
         i < columns && static_cast<double>(i) * per_column < end; ++i) {
      const double from = std::max(begin, static_cast<double>(i) * per_column);
      const double to = std::min(end, static_cast<double>(i + 1) * per_column);
      for (const auto& [node, share] : run.shares) {
        if (to > from) {
          all[i][node] += share * (to - from) / per_column;
        }
      }
    }
  }
  return all;
}

/// The same to the eye: heights in pixels.
bool looks_like(const column_pages& a, const column_pages& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first &&
           std::lround(x.second * strip_height) == std::lround(y.second * strip_height);
  });
}

std::string words_of(const column_pages& what) {
  return joined(what, ", ", [](const auto& each) {
    return each.first == unknown_node
               ? fmt::format("unknown {:.0f} %", each.second * 100)
               : fmt::format("node {} {:.0f} %", each.first, each.second * 100);
  });
}

class band_painter {
 public:
  band_painter(svg& into, point at, const strips& in)
      : into_(into), at_(at), in_(in), pages_(std::max<std::uint64_t>(in.pages, 1)) {}

  void draw(const strip& what) {
    into_.text({at_.x, at_.y + strip_height / 2 + text_size / 3},
               fitting(what.title, title_width - between), {.colour = shade::faint});
    into_.missing_field({at_.x + title_width, at_.y, strip_width, strip_height});
    const std::vector<column_pages> all = columns_of(what, pages_);
    for (std::size_t first = 0; first < columns;) {
      std::size_t end = first + 1;
      while (end < columns && looks_like(all[first], all[end])) {
        ++end;
      }
      if (!all[first].empty()) {
        draw_part(what, first, end, all[first]);
      }
      first = end;
    }
  }

 private:
  void draw_part(const strip& what, std::size_t first, std::size_t end, const column_pages& of) {
    into_.begin_part(
        fmt::format("{}, {} {}: {}", what.title, in_.unit, range_words(first, end), words_of(of)));
    constexpr double column_width = strip_width / static_cast<double>(columns);
    double y = at_.y;
    for (const auto& [node, share] : of) {
      const double height = std::min(share * strip_height, at_.y + strip_height - y);
      if (height > 0) {
        into_.field({at_.x + title_width + static_cast<double>(first) * column_width, y,
                     static_cast<double>(end - first) * column_width, height},
                    node_colour(node));
        y += height;
      }
    }
    into_.end_part();
  }

  /// "0 to 127" pages, or "0 to 1.25" of another unit.
  [[nodiscard]] std::string range_words(std::size_t first, std::size_t end) const {
    const auto page_at = [&](std::size_t column) { return column * pages_ / columns; };
    if (in_.per_page == 1) {
      return fmt::format("{} to {}", page_at(first), std::max(page_at(first), page_at(end) - 1));
    }
    const auto at = [&](std::size_t column) {
      return static_cast<double>(page_at(column)) * in_.per_page;
    };
    return fmt::format("{:.3g} to {:.3g}", at(first), at(end));
  }

  svg& into_;
  point at_;
  const strips& in_;
  std::uint64_t pages_;
};

} // namespace

area draw(svg& into, point at, const strips& what) {
  double y = at.y;
  for (const strip& each : what.bands) {
    band_painter(into, {at.x, y}, what).draw(each);
    y += strip_height + between;
  }
  return {at.x, at.y, title_width + strip_width, y - at.y};
}

area draw_key(svg& into, point at, const std::vector<node_id>& nodes) {
  constexpr double box = 12;
  constexpr double gap = 16;
  double x = at.x;
  double y = at.y;
  for (const node_id each : nodes) {
    const std::string name = each == unknown_node ? "unknown" : fmt::format("node {}", each);
    const double width = box + between + width_of(name) + gap;
    if (x > at.x && x + width > at.x + title_width + strip_width) {
      x = at.x;
      y += line_height;
    }
    into.field({x, y, box, box}, node_colour(each));
    into.text({x + box + between, y + box - 1}, name);
    x += width;
  }
  return {at.x, at.y, title_width + strip_width, y + line_height - at.y};
}

} // namespace nodewise::drawing
