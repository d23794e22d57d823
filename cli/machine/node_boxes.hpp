// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nodewise/topology.hpp>

#include "report/style.hpp"

namespace nodewise::cli {

/// One box for each node, side by side as the width allows: its memory, and its cores as cells that
/// hold the numbers of their hardware threads. If that takes more than a screen or two, number
/// ranges replace the cores. A legend follows. Every line ends with a newline.
[[nodiscard]] std::string draw_nodes(const topology& what, const report::style& how);

} // namespace nodewise::cli
