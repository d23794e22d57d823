// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/labels.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace nodewise::drawing {

std::string_view colour_of(weight what) noexcept {
  switch (what) {
  case weight::chosen:
    return "#d55e00";
  case weight::faint:
    return "#808890";
  case weight::plain:
    break;
  }
  return "#3b82c4";
}

std::string fitting(std::string_view text, double width, const text_look& look) {
  constexpr std::string_view dots = "...";
  constexpr std::size_t most_bytes = 1000; // more is never shown
  std::string shown = printable(text.substr(0, most_bytes));
  if (text.size() <= most_bytes && width_of(shown, look) <= width) {
    return shown;
  }
  while (!shown.empty() && width_of(shown + std::string(dots), look) > width) {
    shown.resize(cut(shown, shown.size() - 1).size());
  }
  return shown + std::string(dots);
}

void draw_label(svg& into, point at, double width, std::string_view name, std::string_view note,
                weight what) {
  constexpr double gap = 12;
  const text_look look{.colour = what == weight::faint ? shade::faint : shade::text,
                       .strong = what == weight::chosen};
  const std::string beside = fitting(note, width / 2);
  const double taken = beside.empty() ? 0 : width_of(beside) + gap;
  into.text(at, fitting(name, width - taken, look), look);
  if (!beside.empty()) {
    into.text({at.x + width, at.y}, beside, {.at = text_look::anchor::end, .colour = shade::faint});
  }
}

} // namespace nodewise::drawing
