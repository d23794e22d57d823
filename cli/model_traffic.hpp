// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From lines that were counted to bytes that the model prices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/machine.hpp>

#include "model/costs.hpp"
#include "model/traffic.hpp"
#include "topology/json_field.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

/// Which part of a count.
struct traffic_choice {
  std::optional<traffic::phase> when; ///< nothing: both
  std::optional<std::string> region;  ///< of all phases
};

struct priced_traffic {
  model::traffic what;    ///< one thread for each processor that moved anything
  double lines = 0;       ///< that are in it
  double unknown = 0;     ///< lines left out: their processor's node or their memory is not known
  bool elsewhere = false; ///< processors are numbered otherwise: node by node, in their order
  double dirty = 0;       ///< of `lines`, those that were still in the caches at the end
};

/// Each processor as a thread; a region, which is counted by node, in equal parts on those of the
/// node's processors that moved anything in the run. On another machine than the counted
/// one a processor is the core of the same node with the same place. Throws `error`: (usage) for a
/// region that there is not, (input) for processors or memories that the machine has not, and if
/// nothing moved.
[[nodiscard]] priced_traffic price_of_counts(const traffic::counts& of, const traffic_choice& which,
                                             const model::machine_costs& on);

/// The names of the marked regions, each once.
[[nodiscard]] std::vector<std::string> region_names(const traffic::counts& of);

/// A file as `run --on-counts` writes it, as far as it is priced: processors, cells, regions, line
/// size. Throws `error` (input) naming the field that is wrong.
struct traffic_file {
  traffic::counts all;
  traffic::phase judged = traffic::phase::use;
};
[[nodiscard]] traffic_file traffic_from_json(const json_field& document);

} // namespace nodewise::cli
