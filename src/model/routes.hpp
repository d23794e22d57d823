// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "model/costs.hpp"

namespace nodewise::model {

/// The routes of data from each node to each other over the fewest links. Equally short ways share
/// the data evenly, so renumbering nodes renumbers the routes. Empty from a node to itself and if
/// there is no way. Row: from, column: to.
[[nodiscard]] std::vector<route> shortest_routes(std::size_t nodes, const std::vector<link>& links);

} // namespace nodewise::model
