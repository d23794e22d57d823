// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The complete answer to one question to the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/prediction/counted.hpp"
#include "cli/verbs/model/loop.hpp"
#include "model/costs.hpp"
#include "model/predict.hpp"

namespace nodewise::cli {

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

  /// The predicted time divided by that of the fastest alternative; nullopt if there is none.
  [[nodiscard]] std::optional<double> ratio() const noexcept;
};

[[nodiscard]] model_answer answer_loop(const model::machine_costs& on, placed_loop loop);
[[nodiscard]] model_answer answer_traffic(const model::machine_costs& on,
                                          const priced_traffic& what, model::work how);

/// The figures that limit something, and the values assumed where nothing is known.
[[nodiscard]] std::vector<used_figure> used_figures(const model::machine_costs& on);

} // namespace nodewise::cli
