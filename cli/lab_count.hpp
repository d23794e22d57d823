// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A run in a virtual machine whose memory traffic is counted: the runner as a child, the counts
// file it leaves, and what is told of it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "cli/invocation.hpp"
#include "cli/paths.hpp"
#include "launch/child.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

struct counted_run {
  launch::child_end end; ///< of the runner, which ends as the command does
  std::string counts;    ///< the counts file as far as it was written

  /// The runner itself failed, and has said so.
  [[nodiscard]] bool lab_failed() const noexcept;
  /// Throws `error` (input) if there is no count: nothing written, cut off, damaged or refused.
  [[nodiscard]] traffic::counts read() const;
};

/// Starts the runner with these words (`runner_words`, then the command) and waits for its end.
/// Throws `error` (system) if it cannot be started, in the child process as well.
[[nodiscard]] counted_run run_counted(const paths& from, std::vector<std::string> arguments);
/// The same without the command's output, and with its standard input from `input_begin` on again
/// if that is a file, else empty.
[[nodiscard]] counted_run run_counted(const paths& from, std::vector<std::string> arguments,
                                      off_t input_begin);

/// The `settings` of a counted run: those of the virtual machine, as far as they are known here.
[[nodiscard]] nlohmann::ordered_json guest_settings(const invocation& given,
                                                    const traffic::counts& of);

/// Before a run: throws where --on-counts names a file that could not be written.
void check_traffic_output(const invocation& given);
/// After it: the text on standard error unless --quiet, the JSON where --on-counts says. The exit
/// code is 0 if all that was asked for was told; what was not has been complained about.
[[nodiscard]] int tell_traffic(const counted_run& run, const machine& on, const invocation& given);

} // namespace nodewise::cli
