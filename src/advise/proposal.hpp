// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan for a program, and what the model expects of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "advise/finding.hpp"
#include "plan/plan.hpp"

namespace nodewise::advise {

/// What the model predicts for a program's traffic in a placement.
struct outcome {
  std::optional<double> remote;  ///< 0..1 of the traffic whose memory is known
  std::optional<double> seconds; ///< only where traffic and machine have absolute figures
  std::string binds;             ///< "memory of node 0"; empty if nothing was observed
  /// The same for the whole run with initialisation; only if that was counted.
  std::optional<double> whole_remote = {};
  std::optional<double> whole_seconds = {};
};

/// What to do for the binary of a program.
struct proposal {
  std::size_t program = 0; ///< position in `profile::programs`
  plans::plan_file plan;
  outcome before;
  outcome after; ///< predicted
  gain worth;
  /// For several ranks of one binary: why the plan is for the first rank only; empty if for all.
  std::string disagreement;
  /// Set if the plan makes initialisation slower: how often the program must repeat the observed
  /// phase of use for the plan to pay off. Empty: it pays off at once.
  std::optional<double> pays_from = {};
  bool rebinds = false;             ///< the plan moves threads to other nodes
  std::vector<std::string> remarks; ///< what the plan leaves out or is unsure of
  std::string refused;              ///< why it is not offered; empty if it is offered
};

} // namespace nodewise::advise
