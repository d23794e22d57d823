// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Places a described loop on a machine: its threads on cores, its pages in memories.
#pragma once

#include <string>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

#include "cli/verbs/model/options.hpp"
#include "model/costs.hpp"
#include "model/loop.hpp"

namespace nodewise::cli {

struct placed_loop {
  bool chunk_starts_with_latency = false; ///< no start time was given
  model::loop what;
  node_set nodes;                   ///< of the threads
  std::vector<std::string> remarks; ///< changes and assumptions; one sentence each
};

/// Throws `error`: (usage) for processors and nodes that `where` does not allow, (input) if the
/// arrays do not fit into its memories. `on` holds the costs of the same machine.
[[nodiscard]] placed_loop place_loop(const loop_description& asked, const topology& where,
                                     const model::machine_costs& on);

/// Gives the loop its page maps (model_memory.cpp); its threads must be placed already.
void place_arrays(placed_loop& into, const loop_description& asked, const topology& where,
                  const model::machine_costs& on);

} // namespace nodewise::cli
