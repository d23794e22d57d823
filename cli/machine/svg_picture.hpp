// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "drawing/svg.hpp"

namespace nodewise::cli {

/// The machine: its nodes with memory and cores, then its distances and its costs as
/// heat maps. `remarks`: where the costs are from, or why there are none.
[[nodiscard]] drawing::picture machine_picture(const topology& what,
                                               const std::vector<std::string>& remarks = {});

} // namespace nodewise::cli
