// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Places a described loop on a machine, its threads on cores and its pages in memories; and the
// complete answer to one question to the model.
#pragma once

#include <nodewise/topology.hpp>

#include "cli/prediction/counted.hpp"
#include "cli/verbs/model/options.hpp"
#include "model/predict.hpp"

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

/// Gives the loop its page maps (memory.cpp); its threads must be placed already.
void place_arrays(placed_loop& into, const loop_description& asked, const topology& where,
                  const model::machine_costs& on);

/// The predicted time under one assumption about how threads run relative to each other.
struct read_seconds {
  model::reading by = model::reading::mixed;
  double seconds = 0;
};

/// A figure of the machine that the model uses.
struct used_figure {
  model::input what = model::input::memory;
  std::string of; ///< "node 0", "0:1"
  model::figure is;
};

struct model_answer {
  model::prediction result;
  model::reading by = model::reading::mixed;
  std::vector<read_seconds> readings;            ///< all that are known
  std::optional<double> useful_bytes;            ///< for a loop, by STREAM's convention
  std::vector<model::alternative> alternatives;  ///< fastest first
  std::vector<model::sensitivity> sensitivities; ///< at 10 %
  std::vector<std::string> remarks;

  /// To the fastest alternative.
  [[nodiscard]] std::optional<double> ratio() const noexcept {
    return model::ratio_to_best(result, alternatives);
  }
};

[[nodiscard]] model_answer answer_loop(const model::machine_costs& on, placed_loop loop);
[[nodiscard]] model_answer answer_traffic(const model::machine_costs& on,
                                          const priced_traffic& what, model::work how);

/// The figures that limit something, and the values assumed where nothing is known.
[[nodiscard]] std::vector<used_figure> used_figures(const model::machine_costs& on);

} // namespace nodewise::cli
