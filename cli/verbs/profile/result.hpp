// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile with the machine it was taken on; how it is recorded and reported.
#pragma once

#include <memory>

#include <nodewise/machine.hpp>

#include "cli/frame/invocation.hpp"
#include "cli/verbs/profile/proof.hpp"
#include "launch/plan.hpp"
#include "sys/programs.hpp"

namespace nodewise::cli {

struct profile_result {
  profile::profile what;
  topology on;
  std::shared_ptr<const nlohmann::ordered_json> settings; ///< never null
};

/// The position of the program with the most memory; nothing if no program was seen.
[[nodiscard]] std::optional<std::size_t> largest_position(const profile::profile& of);

/// A file that `profile -o` wrote. Throws `error` (input) naming what is wrong with it.
[[nodiscard]] profile_result read_profile(const std::string& file);

/// Merges the files of the ranks of one run (profile/profile.hpp). Also throws `error` (usage) if
/// they are from different machines, or from different parts of one.
[[nodiscard]] profile_result read_ranks(const std::vector<std::string>& files);

/// Call before a program starts. Throws if a requested file cannot be written.
void check_profile_output(const invocation& given);

/// Runs the program with a plan, and prices the counted traffic on `priced_on`.
using run_with_plan =
    std::function<counted_outcome(const plans::plan_file& plan, const topology& priced_on)>;

/// Writes the requested files and reports the advice, as JSON on standard output or as text on
/// `text_to`. With `run`, it verifies the plan by running the program again.
void report_profile(const profile_result& found, const invocation& given, int text_to,
                    const run_with_plan& run = {});

/// Prints two saved profiles side by side: the operands.
void print_comparison(const invocation& given);

/// Profiles and counts traffic in a virtual machine. Ends as the program does.
[[noreturn]] void profile_on_lab(const invocation& given);

/// As text: what is wrong, what fixes it and what the fix gains. `verbose` adds the evidence, all
/// arrays, rejected candidates, what was not examined, and the cost of profiling.
[[nodiscard]] std::string advice_text(const profile::profile& what, const advise::advice& found,
                                      const machine& on, bool verbose, const report::style& how);
/// What the other forms of the advice (flags.hpp) are written from.
struct reported_advice {
  const profile_result& profiled;
  const advise::advice& found;
  const std::optional<proof>& proven;
  const machine& on; ///< whose figures price it
};
/// `nodewise/profile/2`.
[[nodiscard]] nlohmann::ordered_json profile_json(const profile::profile& what, const machine& on,
                                                  nlohmann::ordered_json settings);

struct recorded_profile {
  profile::profile what;
  sys::child_end end;                ///< of the program, if one was started
  std::vector<std::string> warnings; ///< problems during the recording
};

/// Runs the plan's program with the agent in trace mode. If the kernel refuses to sample page
/// faults, the profile has only the agent's records and says so; under --strict the program then
/// does not run. In the child process, exceptions of `apply` and `become` leave this function.
[[nodiscard]] recorded_profile record_program(const launch::plan& what, const topology& here,
                                              const invocation& given);

/// Watches a running process, without the agent.
[[nodiscard]] recorded_profile record_process(int pid, const topology& here,
                                              const invocation& given);

} // namespace nodewise::cli
