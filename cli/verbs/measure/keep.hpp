// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Decides which results of `nodewise measure` are saved for other verbs, and where.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

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

} // namespace nodewise::cli
