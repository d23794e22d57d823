// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A run in a virtual machine with its memory traffic counted: the runner as a child process, the
// counts file it leaves, and the report on it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "cli/frame/invocation.hpp"
#include "cli/frame/paths.hpp"
#include "launch/child.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

struct counted_run {
  launch::child_end end; ///< of the runner, which exits as the command does
  std::string counts;    ///< the counts file as far as it was written

  /// Whether the runner itself failed; it has then printed its own error.
  [[nodiscard]] bool lab_failed() const noexcept;
  /// Throws `error` (input) if there is no usable count: nothing written, cut off, damaged or
  /// refused.
  [[nodiscard]] traffic::counts read() const;
};

/// Starts the runner with these words (`runner_words`, then the command) and waits for its end.
/// Throws `error` (system) if it cannot be started; the child process throws it as well.
[[nodiscard]] counted_run run_counted(const paths& from, std::vector<std::string> arguments);
/// The same, with the command's output discarded. Standard input restarts at `input_begin` if it is
/// a file; otherwise it is empty.
[[nodiscard]] counted_run run_counted(const paths& from, std::vector<std::string> arguments,
                                      off_t input_begin);

/// The `settings` of a counted run: those of the virtual machine, as far as they are known on the
/// host.
[[nodiscard]] nlohmann::ordered_json guest_settings(const invocation& given,
                                                    const traffic::counts& of);

/// Call before a run. Throws if the file that --on-counts names cannot be written.
void check_traffic_output(const invocation& given);
/// Call after a run. Prints the report on standard error unless --quiet is given, and writes the
/// JSON where --on-counts says. Errors are printed. Returns 0 unless --on-counts was given and the
/// report failed.
[[nodiscard]] int report_traffic(const counted_run& run, const machine& on,
                                 const invocation& given);

} // namespace nodewise::cli
