// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From what was observed of programs to what is wrong with them and what to do. Pure arithmetic on
// values: no file, no system, no clock. The same profile always gets the same advice.
#pragma once

#include <nodewise/topology.hpp>

#include "advise/finding.hpp"

namespace nodewise::advise {

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

/// A placement other than the plan's, to try.
struct alternative {
  std::string name; ///< "interleave"
  plans::plan_file plan;
  outcome expected; ///< predicted
  /// The model is too unsure of it to propose it: it counts only if a run with it has less remote
  /// traffic.
  bool must_be_nearer = false;
};

/// With the program's threads bound as in its plan: what users try first, all arrays interleaved or
/// all in blocks, and what the model expects to be fastest. Throws like `make_plan`.
[[nodiscard]] std::vector<alternative> alternatives(const profile::profile& of, const topology& on,
                                                    std::size_t program);

/// The model's figures for the observed run of the program and of the programs in the same job.
/// Throws like `make_plan`.
[[nodiscard]] outcome outcome_of_run(const profile::profile& of, const topology& on,
                                     std::size_t program);

/// For each program, how many seconds longer it takes, by the model, than if all traffic of each
/// thread went to the memory of the thread's own node. Programs of one job all have the job's wait.
/// Without a value if there are no absolute figures of the machine, or uses were not observed.
/// Throws like `advise`.
[[nodiscard]] std::vector<std::optional<double>> remote_waits_s(const profile::profile& of,
                                                                const topology& on);

} // namespace nodewise::advise
