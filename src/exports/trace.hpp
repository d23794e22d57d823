// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile in Chrome's trace event format, which Perfetto and chrome://tracing show.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profile/profile.hpp"

namespace nodewise::exports {

/// An object with `traceEvents`. Times are microseconds after the start of the observation, or
/// after the program's start if it is not known when that was. For each program:
///
/// - a span of its run, and one for each thread, named by the nodes on which the thread was seen;
///   inside it spans of its stays on nodes, if their times are known.
/// - a counter of sampled accesses, local and remote, if their times are known.
/// - a span for each array's life. Arrays without times are left out and counted in `otherData`.
/// - a counter: the bytes that the arrays had on each node. Each array counts for its whole life as
///   it was at its end, because it is not known when its pages came.
///
/// A span whose end is unknown has only a beginning.
[[nodiscard]] nlohmann::ordered_json trace(const profile::profile& of, const std::string& machine);

} // namespace nodewise::exports
