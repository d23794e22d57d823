// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Amounts of several things as bars of one scale, each of one part or more.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nodewise/id.hpp>

#include "drawing/labels.hpp"
#include "drawing/svg.hpp"

namespace nodewise::drawing {

inline constexpr std::size_t most_bars = 60;

struct bar_part {
  std::string name; ///< "node 0: 24.0 GiB"
  std::string colour;
  double amount = 0;
};

struct bar {
  std::string name;
  std::string note = {}; ///< the amount in words
  std::vector<bar_part> parts;
  weight matters = weight::plain;
};

struct bars {
  std::vector<bar> rows; ///< from top to bottom
  /// The amount of a whole bar; 0: the largest sum of a row.
  double whole = 0;
  std::vector<node_id> nodes = {}; ///< whose colours parts have, named above the rows
};

/// One row each, with a part in words. Amounts below 0 and those that are not finite take no room.
/// After `most_bars` rows a line says how many more there are. Returns the area that it takes.
area draw(svg& into, point at, const bars& what);

} // namespace nodewise::drawing
