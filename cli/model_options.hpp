// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `nodewise model` is asked for, as values: a loop that is not yet on any machine, and the
// figures that the asker puts in place of a machine's.
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

#include "cli/invocation.hpp"
#include "cli/model_flags.hpp"
#include "model/loop.hpp"

namespace nodewise::cli {

struct loop_description {
  std::string kernel;  ///< as typed
  std::string formula; ///< "a[i] = b[i]"; empty for arrays by their letters
  std::vector<model::array_use> arrays;
  std::size_t elements = std::size_t{1} << 26; ///< of each array
  std::size_t element_bytes = 8;
  model::schedule how;
  model::shape form = model::shape::flat;
  bool random_access = false;
  std::optional<double> chunk_start_s;

  std::optional<std::string> cpu_nodes; ///< of these two only the one typed last
  std::optional<std::string> cpus;
  std::size_t threads = 0; ///< 0: as many as `run` would start
  bind_policy bind = bind_policy::spread;
  smt_use smt = smt_use::as_needed;

  std::string memory = "local"; ///< as typed
  bool stagger = false;
  std::size_t page_bytes = 4096;
  std::vector<std::pair<std::string, std::uint64_t>> free; ///< a list of nodes; bytes on each

  /// "dynamic,16", as --schedule has it.
  [[nodiscard]] std::string schedule_text() const;
};

/// From the options of an invocation with --kernel. Throws `error` (usage) that names the option.
[[nodiscard]] loop_description read_loop(const invocation& given);

/// "dynamic,64". Throws as `read_loop`.
[[nodiscard]] model::schedule read_schedule(std::string_view typed);

/// The loops of --sweep: the value as typed, and the loop with it.
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

/// Puts the figures of --set in place of the machine's own.
void set_parameters(machine& of, const invocation& given);

} // namespace nodewise::cli
