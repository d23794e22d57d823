// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A run in the lab whose memory traffic is counted, on one machine or on each host of a cluster,
// and the report on it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "cli/frame/paths.hpp"
#include "sys/programs.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

struct counted_run {
  sys::child_end end;              ///< of the runner, which exits as the command does
  std::vector<std::string> counts; ///< of each host: the counts file as far as it was written

  /// Whether the runner itself failed; it has then printed its own error.
  [[nodiscard]] bool lab_failed() const noexcept;
  /// Of a host, from 0 on. Throws `error` (input) if there is no usable count: nothing written, cut
  /// off, damaged or refused.
  [[nodiscard]] traffic::counts read(std::size_t host = 0) const;
};

/// Starts the runner with these words (`runner_words`, then the command) and waits for its end.
/// Throws `error` (system) if it cannot be started; the child process throws it as well. With
/// `silent_from`, the command's output is discarded, and standard input restarts there if it is a
/// file; otherwise it is empty.
[[nodiscard]] counted_run run_counted(const paths& from, std::vector<std::string> arguments,
                                      std::optional<off_t> silent_from = {});

/// The `settings` of a counted run: those of the virtual machine, as far as they are known on the
/// host.
[[nodiscard]] nlohmann::ordered_json guest_settings(const invocation& given,
                                                    const traffic::counts& of);

/// "host1": as the lab names the hosts of a cluster, here from 0 on.
[[nodiscard]] std::string cluster_host(std::size_t host);

/// `nodewise/cluster-traffic/1`: a result for each host of a cluster.
[[nodiscard]] nlohmann::ordered_json
cluster_traffic_json(std::span<const nlohmann::ordered_json> of_hosts);

/// Call before a run. Throws if the file that --on-counts names cannot be written.
void check_traffic_output(const invocation& given);
/// Call after a run on these hosts. Prints the report on standard error unless --quiet is given,
/// and writes the JSON where --on-counts says. Errors are printed. Returns 0 unless --on-counts was
/// given and the report failed.
[[nodiscard]] int report_traffic(const counted_run& run, std::span<const topology> hosts,
                                 const invocation& given);

} // namespace nodewise::cli
