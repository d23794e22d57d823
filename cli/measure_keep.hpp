// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which results of `nodewise measure` others compute with, and where they are kept for them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "measure/measurement.hpp"

namespace nodewise::cli {

/// What of the machine this process could not measure: "only processors 0 of 0-3 were allowed".
/// Empty if all processors and all nodes with memory were allowed.
[[nodiscard]] std::string why_in_part(const topology& on);

/// Why others should not compute with what was just measured: it was stopped, a bandwidth or
/// latency is missing, it is of a part of the machine, of other buffers than theirs, or there were
/// `doubts` before it began. Empty if they should.
[[nodiscard]] std::string why_not_kept(const measure::measurement& what, const topology& on,
                                       const std::vector<std::string>& doubts,
                                       const invocation& given);

/// Why what is kept already is the better one, by the bandwidths, latencies and contention that
/// others compute with: fewer of them disturbed, more visited often enough, or more of them. Empty
/// if it is not.
[[nodiscard]] std::string why_worse(const measure::measurement& now,
                                    const measure::measurement& kept);

/// Keeps it for `topo` and `run`, or does not. Returns a line that says which, and why; empty if
/// the question was another one than theirs. Throws nothing: what is in the way of that is no
/// reason to lose the result.
[[nodiscard]] std::string keep(const measure::measurement& what, const topology& on,
                               const std::vector<std::string>& doubts,
                               const nlohmann::ordered_json& result, const invocation& given);

} // namespace nodewise::cli
