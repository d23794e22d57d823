// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A table of figures as coloured fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drawing/svg.hpp"

namespace nodewise::drawing {

struct heat_map {
  std::string title;  ///< "bandwidth (GB/s)"
  std::string remark; ///< where the figures are from; may be empty
  std::string row;    ///< what a row is: "processors of node"
  std::string column; ///< "memory of node"
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  /// By row and column; nullopt: unknown, which is shown as a dashed field.
  std::vector<std::vector<std::optional<double>>> values;
  std::string unit; ///< "GB/s"
  bool more_is_better = true;
};

/// Fields are lighter the better their value is, and hold it if there is room; a part with words
/// and unit belongs to each. Returns the area that it takes.
area draw(svg& into, point at, const heat_map& what);

/// As figures are printed in a field: four significant digits, or all digits before the point if
/// there are at most seven.
[[nodiscard]] std::string figure_text(double value);

} // namespace nodewise::drawing
