// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The pages of an array in a row, coloured by node: where they are, who uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/id.hpp>

#include "drawing/svg.hpp"

namespace nodewise::drawing {

/// Of a strip, two pixels each: what is narrower is not seen.
inline constexpr std::size_t strip_columns = 360;

/// Consecutive pages. Shares of several nodes lie above each other; they need not add up to 1.
struct strip_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::vector<std::pair<node_id, double>> shares; ///< `unknown_node`: it is not known
};

struct strip {
  std::string title;           ///< "pages on"
  std::vector<strip_run> runs; ///< ascending; a gap is nothing: never touched, never used
};

struct strips {
  std::uint64_t pages = 0;
  std::vector<strip> bands; ///< from top to bottom
  /// What is counted along a strip, and how much of it a page is: 0.25 "seconds" in a strip of
  /// time.
  std::string unit = "pages";
  double per_page = 1;
};

/// One below the other, with the same scale. Runs that are narrower than a pixel are added up, so
/// the size of the picture has a bound. Returns the area that it takes.
area draw(svg& into, point at, const strips& what);

/// The colour of each of these nodes with its name, in one line or more.
area draw_key(svg& into, point at, const std::vector<node_id>& nodes);

} // namespace nodewise::drawing
