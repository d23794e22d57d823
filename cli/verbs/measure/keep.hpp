// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What others use of a result of `nodewise measure`: decides which results are saved for other
// verbs, and where; sets the kernel's interleave weights by measured bandwidths.
#pragma once

#include "cli/frame/invocation.hpp"
#include "measure/measurement.hpp"

namespace nodewise::cli {

/// Which part of the machine this process could not measure: "only processors 0 of 0-3 were
/// allowed". Empty if all processors and all nodes with memory were allowed.
[[nodiscard]] std::string why_in_part(const topology& on);

/// Why other verbs should not use this measurement: it was stopped, lacks a bandwidth or latency,
/// covers only part of the machine, used other buffers than the standard ones, or had `doubts`
/// before it began. Empty if they may use it.
[[nodiscard]] std::string why_not_kept(const measure::measurement& what, const topology& on,
                                       const std::vector<std::string>& doubts,
                                       const invocation& given);

/// Why the saved measurement is better than the new one, by the bandwidths, latencies and
/// contention that other verbs use: fewer of them are disturbed, more have enough samples, or there
/// are more of them. Empty if it is not better.
[[nodiscard]] std::string why_worse(const measure::measurement& now,
                                    const measure::measurement& kept);

/// Saves the measurement for `topo` and `run` if it is good enough. Returns a line that says
/// whether it was saved and why; empty if it has neither bandwidths nor latencies. Throws nothing:
/// a failure to save must not lose the result.
[[nodiscard]] std::string keep(const measure::measurement& what, const topology& on,
                               const std::vector<std::string>& doubts,
                               const nlohmann::ordered_json& result, const invocation& given);

/// Why weights from these bandwidths should not be set on `here`: the measurement was stopped, a
/// bandwidth is missing, a processor or memory gave wrong results, or another machine was measured.
/// Empty if they may be set.
[[nodiscard]] std::string why_no_weights(const measure::measurement& what, const machine& of,
                                         const machine& here);

/// Does what --weights asks for: sets the weights with =apply, and returns the lines for a shell.
/// Throws `error` (input) for a reason in `why_no_weights` or a machine measured in part. Printing
/// a new measurement (`file` is empty) goes on with a warning if the machine was measured in part;
/// printing a file does in both cases, since it may be meant for its own machine. Also throws
/// `error` (input) if a node with memory has no bandwidth, and (system) if the kernel refuses.
[[nodiscard]] std::string weight_lines(const measure::measurement& what, const topology& on,
                                       const std::string& file, const invocation& given);

} // namespace nodewise::cli
