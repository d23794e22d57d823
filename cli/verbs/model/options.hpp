// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise model` as values: a loop that is not yet placed on a machine, and the
// user's figures that override the machine's.
#pragma once

#include <utility>

#include <nodewise/team_layout.hpp>

#include "cli/frame/invocation.hpp"
#include "model/loop.hpp"

namespace nodewise::cli {

/// A loop without threads and maps of pages.
struct loop_description : model::loop {
  std::string kernel;  ///< as typed
  std::string formula; ///< empty if arrays are given by letters
  std::optional<double> given_chunk_start_s;

  std::optional<std::string> cpu_nodes; ///< only one of these two is set: the last typed
  std::optional<std::string> cpus;
  std::size_t threads = 0; ///< 0: as many as `run` would start
  bind_policy bind = bind_policy::spread;
  smt_use smt = smt_use::as_needed;

  std::string memory = "local"; ///< as typed
  bool stagger = false;
  std::vector<std::pair<std::string, std::uint64_t>> free; ///< a list of nodes; bytes on each

  /// "dynamic,16", in the syntax of --schedule.
  [[nodiscard]] std::string schedule_text() const;
};

/// Reads the loop of an invocation with --kernel. Throws `error` (usage), which names the option.
[[nodiscard]] loop_description read_loop(const invocation& given);

/// Reads "dynamic,64". Throws as `read_loop` does.
[[nodiscard]] model::schedule read_schedule(std::string_view typed);

/// One loop of --sweep: the value as typed, and the loop with that value.
struct sweep_point {
  std::string value;
  loop_description loop;
};
struct loop_sweep {
  std::string what; ///< "threads", "chunk", "memory"
  std::vector<sweep_point> points;
};
/// nullopt without --sweep.
[[nodiscard]] std::optional<loop_sweep> read_sweep(const loop_description& of,
                                                   const invocation& given);

/// Replaces the machine's own figures with those of --set.
void set_parameters(machine& of, const invocation& given);

} // namespace nodewise::cli
