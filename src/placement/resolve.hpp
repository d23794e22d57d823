// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a placement becomes on one machine, with its threads where they are: nodes own everything.
// The launcher and the model both go this way.
#pragma once

#include <functional>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>

#include "placement/placement.hpp"

namespace nodewise::placements {

/// What a placement may ask of the machine and of the program. A function is called only if the
/// placement needs its answer, and may throw `error`.
struct surroundings {
  std::function<std::vector<node_id>()> threads; ///< the node of each thread, in order
  std::size_t planned_threads = 0;    ///< the number that it was made for; 0: the number here
  std::function<node_set()> memories; ///< all nodes with memory
  std::function<node_set()> nodes_of_threads; ///< those with memory
  /// Weights of these nodes by their bandwidths.
  std::function<std::vector<owner_run>(const node_set& nodes)> measured = {};
};

/// The same placement with nodes as owners; a blocked one keeps none, because each thread has one
/// block. `of`: where it was written, which decides who owns what if it lists no owners. Throws
/// `error` (input) for a thread that does not exist.
[[nodiscard]] placement resolved(placement what, grammar of, const surroundings& here);

} // namespace nodewise::placements
