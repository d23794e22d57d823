// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nodewise/topology.hpp>

#include "report/style.hpp"

namespace nodewise::cli {

/// What `nodewise topo` prints: a picture of the machine, then its distances, published or measured
/// figures and devices. Processors and nodes that this process may not use are marked `x`. Every
/// line ends with a newline. `costs` adds remarks on bandwidths and latencies: where they are from,
/// or why there are none; may be empty.
[[nodiscard]] std::string draw(const topology& what, const report::style& how,
                               const std::vector<std::string>& costs = {});

/// One box for each node, side by side as the width allows: its memory, and its cores as cells that
/// hold the numbers of their hardware threads. If that takes more than a screen or two, number
/// ranges replace the cores. A legend follows. Every line ends with a newline.
[[nodiscard]] std::string draw_nodes(const topology& what, const report::style& how);

} // namespace nodewise::cli
