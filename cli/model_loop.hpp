// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A described loop on a machine: its threads on cores, its pages in memories.
#pragma once

#include <string>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

#include "cli/model_options.hpp"
#include "model/costs.hpp"
#include "model/loop.hpp"

namespace nodewise::cli {

struct placed_loop {
  model::loop what;
  node_set nodes;                   ///< of the threads
  std::vector<std::string> remarks; ///< what is not as asked, or assumed; one sentence each
};

/// Throws `error`: (usage) for processors and nodes that `where` does not allow, (input) if the
/// arrays do not fit into its memories. `on` are the costs of the same machine.
[[nodiscard]] placed_loop place_loop(const loop_description& asked, const topology& where,
                                     const model::machine_costs& on);

/// Gives the loop its maps (model_memory.cpp); its threads must be there.
void place_arrays(placed_loop& into, const loop_description& asked, const topology& where,
                  const model::machine_costs& on);

} // namespace nodewise::cli
