// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What moved between nodes, as a picture with its numbers.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include <nodewise/id.hpp>

namespace nodewise::cli {

struct report_page;

/// Amounts by the node of the thread and the node of the memory.
using node_matrix = std::map<std::pair<node_id, node_id>, double>;

/// The shares of all traffic. Adds nothing if nothing moved.
void add_matrix_section(const node_matrix& between, std::string_view caption, report_page& into);

} // namespace nodewise::cli
