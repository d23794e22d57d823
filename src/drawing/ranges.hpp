// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Repeated figures of several things on one axis, with their medians and intervals.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "drawing/labels.hpp"
#include "drawing/svg.hpp"

namespace nodewise::drawing {

inline constexpr std::size_t most_ranges = 60;

struct range_row {
  std::string name;
  std::string note = {};           ///< "set aside"; may be empty
  std::vector<double> points = {}; ///< in any order; may be empty
  std::optional<double> median = {};
  std::optional<double> low = {}; ///< the interval of the median; both ends or none
  std::optional<double> high = {};
  weight matters = weight::plain;
};

struct ranges {
  std::string axis; ///< "wall time (s)"
  bool from_zero = false;
  std::vector<range_row> rows; ///< from top to bottom
};

/// One row each, with a part in words: dots for the figures, below them a bar for the interval, and
/// a line through both for the median. Values that are not finite are left out. The size has a
/// bound: dots that would cover each other are one, and after `most_ranges` rows a line says how
/// many more there are. Returns the area that it takes.
area draw(svg& into, point at, const ranges& what);

} // namespace nodewise::drawing
