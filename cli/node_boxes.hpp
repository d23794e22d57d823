// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nodewise/topology.hpp>

#include "report/style.hpp"

namespace nodewise::cli {

/// A box a node, side by side as the width allows: its memory, and its cores as cells that hold the
/// numbers of their hardware threads. Where that would take more than a screen or two the cores are
/// ranges of numbers instead. A legend below. Every line ends with a newline.
[[nodiscard]] std::string draw_nodes(const topology& what, const report::style& how);

/// "hbm", or "" where nobody says.
[[nodiscard]] std::string kind_text(memory_kind kind);

} // namespace nodewise::cli
