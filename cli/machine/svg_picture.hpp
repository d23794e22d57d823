// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::cli {

/// The machine as an SVG file: its nodes with memory and cores, then its distances and its costs as
/// heat maps. `remarks`: where the costs are from, or why there are none.
[[nodiscard]] std::string machine_svg(const topology& what,
                                      const std::vector<std::string>& remarks = {});

} // namespace nodewise::cli
