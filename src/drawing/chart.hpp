// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Figures over a quantity, as lines with intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drawing/svg.hpp"

namespace nodewise::drawing {

struct chart_point {
  double x = 0;
  double y = 0;
  std::optional<double> low = {}; ///< the interval of y
  std::optional<double> high = {};
};

struct chart_line {
  std::string name;
  std::string colour;              ///< "#0072b2"
  std::vector<chart_point> points; ///< joined in this order
};

struct chart_axis {
  std::string title; ///< "bandwidth (GB/s)"
  bool from_zero = true;
};

struct chart {
  std::string title;
  chart_axis x;
  chart_axis y;
  std::vector<chart_line> lines;
};

/// Lines with their names, both axes, and a part with words for each point. Draws nothing but the
/// title if no line has a finite point. Returns the area that it takes.
area draw(svg& into, point at, const chart& what);

/// Round numbers from `low` to `high` or a little beyond, at most `most` + 1 of them.
[[nodiscard]] std::vector<double> ticks(double low, double high, std::size_t most);

} // namespace nodewise::drawing
