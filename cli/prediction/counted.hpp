// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Converts counted lines to bytes that the model prices.
#pragma once

#include "model/traffic.hpp"
#include "topology/json_field.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

/// Selects a part of a count.
struct traffic_choice {
  std::optional<traffic::phase> when = {}; ///< nothing: both
  std::optional<std::string> region = {};  ///< of all phases
};

struct priced_traffic {
  model::traffic what;    ///< one thread for each processor that moved anything
  double lines = 0;       ///< included in `what`
  double unknown = 0;     ///< lines left out: their processor's node or memory is unknown
  bool elsewhere = false; ///< processor numbers differ: cores are matched by node and order
  double dirty = 0;       ///< of `lines`, those still in the caches at the end
};

/// Treats each processor as a thread. A region is counted by node: its lines are split equally over
/// the node's processors that moved anything in the run. On a machine other than the counted one, a
/// processor becomes the core at the same position in the same node. Throws `error`: (usage) for an
/// unknown region, (input) for processors or memories that the machine lacks, and if nothing moved.
[[nodiscard]] priced_traffic price_of_counts(const traffic::counts& of, const traffic_choice& which,
                                             const model::machine_costs& on);

/// The names of the marked regions, each once.
[[nodiscard]] std::vector<std::string> region_names(const traffic::counts& of);

/// A file that `run --on-counts` wrote, with the parts that are priced: processors, cells, regions,
/// line size. Throws `error` (input) naming the field that is wrong.
struct traffic_file {
  traffic::counts all;
  traffic::phase judged = traffic::phase::use;
};
[[nodiscard]] traffic_file traffic_from_json(const json_field& document);

} // namespace nodewise::cli
