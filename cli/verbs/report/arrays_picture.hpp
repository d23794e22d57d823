// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The strips of several arrays as one picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drawing/strips.hpp"

namespace nodewise::cli {

inline constexpr std::size_t most_arrays_drawn = 12;
inline constexpr double least_share_drawn = 0.01; ///< of the traffic

struct drawn_array {
  std::string title;
  std::vector<drawing::strips> parts; ///< from top to bottom, each with a scale of its own
};

/// With the colours of the nodes above.
[[nodiscard]] drawing::picture picture_of_arrays(std::string title, std::string description,
                                                 const std::vector<drawn_array>& arrays);

} // namespace nodewise::cli
