// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From what was observed of programs to what is wrong with them and what to do. Pure arithmetic on
// values: no file, no system, no clock. The same profile always gets the same advice.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "advise/finding.hpp"
#include "plan/plan.hpp"
#include "profile/profile.hpp"

namespace nodewise::advise {

/// A smaller gain is within the variation between runs.
inline constexpr double least_gain = 1.02;
/// If the low end of a gain is below this, the program might become slower.
inline constexpr double no_slower = 2 - least_gain;

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

struct advice {
  std::vector<finding> findings;     ///< greatest gain first
  std::vector<dismissal> not_worth;  ///< found, but not worth the work
  std::vector<unexamined> not_asked; ///< for lack of evidence
  std::vector<proposal> plans;       ///< for each binary that a plan makes faster
  std::vector<proposal> refused;     ///< that might help, but might make it slower
  std::vector<std::string> remarks;  ///< on the whole: assumed figures of the machine
};

/// `on` is the machine on which the profile was taken. Programs of one MPI job are priced together,
/// all others separately. Throws `error` (input) for a machine without processors or memory.
[[nodiscard]] advice advise(const profile::profile& of, const topology& on);

/// Only the plan, even one that places nothing. Throws like `advise`, and `error` (usage) if the
/// program does not exist.
[[nodiscard]] proposal make_plan(const profile::profile& of, const topology& on,
                                 std::size_t program);

} // namespace nodewise::advise
