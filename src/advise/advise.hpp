// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From what was seen of programs to what is wrong with them and what to do. Arithmetic on values:
// no file, no system, no clock; the same profile always gets the same advice.
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

/// Less than this is below what a run varies by.
inline constexpr double least_gain = 1.02;
/// And what begins below this might be slower.
inline constexpr double no_slower = 2 - least_gain;

/// What the model says of a program's traffic in a placement.
struct outcome {
  std::optional<double> remote;  ///< 0..1 of the traffic whose memory is known
  std::optional<double> seconds; ///< only where traffic and machine have absolute figures
  std::string binds;             ///< "memory of node 0"; empty if nothing was observed
  /// The same of the whole run, initialisation included; only where that was counted.
  std::optional<double> whole_remote = {};
  std::optional<double> whole_seconds = {};
};

/// What to do to the binary of a program.
struct proposal {
  std::size_t program = 0; ///< position in `profile::programs`
  plans::plan_file plan;
  outcome before;
  outcome after; ///< predicted
  gain worth;
  /// Of several ranks of one binary: why the plan is of the first alone; empty if it is for all.
  std::string disagreement;
  /// The plan makes initialisation slower: it pays if the program does what was observed in the
  /// phase of use at least so many times. Nothing: it pays at once.
  std::optional<double> pays_from = {};
  bool rebinds = false;             ///< threads are to be on other nodes than they were
  std::vector<std::string> remarks; ///< what the plan leaves out or is not sure of
  std::string refused;              ///< why it is not offered; empty if it is
};

struct advice {
  std::vector<finding> findings;     ///< greatest gain first
  std::vector<dismissal> not_worth;  ///< seen, and not worth the work
  std::vector<unexamined> not_asked; ///< for want of evidence
  std::vector<proposal> plans;       ///< of each binary that a plan makes faster
  std::vector<proposal> refused;     ///< that might, and might make it slower
  std::vector<std::string> remarks;  ///< on all of it: assumed figures of the machine
};

/// `on` is the machine on which the profile was taken. Programs of one MPI job are priced
/// together, all others by themselves. Throws `error` (input) for a machine without processors or
/// memory.
[[nodiscard]] advice advise(const profile::profile& of, const topology& on);

/// The plan alone, also one that places nothing. Throws as `advise`, and (usage) for a program that
/// there is not.
[[nodiscard]] proposal make_plan(const profile::profile& of, const topology& on,
                                 std::size_t program);

} // namespace nodewise::advise
