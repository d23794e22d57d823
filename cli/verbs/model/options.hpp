// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise model` as values: a loop that is not yet placed on a machine, and the
// user's figures that override the machine's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nodewise/machine.hpp>
#include <nodewise/team_layout.hpp>

#include "cli/frame/invocation.hpp"
#include "model/loop.hpp"

namespace nodewise::cli {

struct loop_description {
  std::string kernel;  ///< as typed
  std::string formula; ///< empty if arrays are given by letters
  std::vector<model::array_use> arrays;
  std::size_t elements = std::size_t{1} << 26; ///< of each array
  std::size_t element_bytes = 8;
  model::schedule how;
  model::shape form = model::shape::flat;
  bool random_access = false;
  std::optional<double> chunk_start_s;

  std::optional<std::string> cpu_nodes; ///< only one of these two is set: the last typed
  std::optional<std::string> cpus;
  std::size_t threads = 0; ///< 0: as many as `run` would start
  bind_policy bind = bind_policy::spread;
  smt_use smt = smt_use::as_needed;

  std::string memory = "local"; ///< as typed
  bool stagger = false;
  std::size_t page_bytes = 4096;
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
