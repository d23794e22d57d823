// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What arrays are called by the lines of the program that asked for them. Every verb names them so.
#pragma once

#include <string>
#include <vector>

namespace nodewise {

/// The program's own lines on the way to an allocation, innermost first: "grid.hpp:12".
using line_list = std::vector<std::string>;

struct line_name {
  std::string text;      ///< "grid.hpp:12", or "solver.cpp:90 (through grid.hpp:12)"
  std::string called_by; ///< the line that it begins with
};

/// By the innermost line. Where one line allocates for several callers, as a wrapper or a template
/// does, it is the caller's line that tells them apart. Empty for no lines.
[[nodiscard]] std::vector<line_name> names_by_lines(const std::vector<line_list>& all);

} // namespace nodewise
