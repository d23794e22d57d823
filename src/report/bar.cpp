// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "report/wrap.hpp"

namespace nodewise::report {

namespace {

constexpr std::size_t widest_bar = 40;
constexpr std::size_t narrowest_bar = 8;

/// `ratio` of `units`; only 0 gives none, and only 1 gives all.
std::size_t filled_units(double ratio, std::size_t units) {
  if (!(ratio > 0) || ratio >= 1 || units == 0) {
    return ratio >= 1 ? units : 0;
  }
  const auto rounded = static_cast<std::size_t>(std::lround(ratio * static_cast<double>(units)));
  return std::clamp<std::size_t>(rounded, 1, std::max<std::size_t>(1, units - 1));
}

} // namespace

std::string bar(const style& how, double ratio, std::size_t columns) {
  if (!how.unicode) {
    return fmt::format("{:.<{}}", std::string(filled_units(ratio, columns), '#'), columns);
  }
  static constexpr std::array eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t units = filled_units(ratio, columns * 8);
  std::string text;
  for (std::size_t i = 0; i < units / 8; ++i) {
    text += "█";
  }
  text += eighths[units % 8];
  return pad_right(text, columns);
}

std::string share_bars(const style& how, std::span<const share> shares, std::size_t indent) {
  const std::size_t label_width = widest(shares, 0, &share::label);
  const std::size_t note_width = widest(shares, 0, &share::note);
  constexpr std::size_t percent_width = 6;
  const std::size_t taken = indent + label_width + percent_width + note_width + 6;
  const std::size_t columns =
      std::clamp(how.width > taken ? how.width - taken : 0, narrowest_bar, widest_bar);
  std::string out;
  for (const share& s : shares) {
    const std::string drawn = std::isfinite(s.ratio)
                                  ? paint_node(how, to_int(s.node), bar(how, s.ratio, columns))
                                  : std::string(columns, ' ');
    const std::string note = s.note.empty() ? "" : "  " + pad_left(s.note, note_width);
    out += fmt::format("{:{}}{}  {}  {}{}\n", "", indent, pad_right(s.label, label_width), drawn,
                       pad_left(format_percent(s.ratio), percent_width), note);
  }
  return out;
}

} // namespace nodewise::report
