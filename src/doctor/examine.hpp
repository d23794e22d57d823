// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is permitted and what is in the way, as facts: nothing here prints or decides an exit
// status.
#pragma once

#include <optional>
#include <vector>

#include <nodewise/topology.hpp>

#include "doctor/control_group.hpp"
#include "doctor/finding.hpp"
#include "doctor/surroundings.hpp"
#include "sys/process.hpp"

namespace nodewise::doctor {

/// Tries every system call once, on memory and on a thread of its own, so that nothing of the
/// calling program changes. Never throws for a refusal: that is a finding.
[[nodiscard]] std::vector<finding> try_calls(const surroundings& around);

/// Reads the settings that change where pages and threads go. `perf_errno`: what perf_event_open
/// answered, if it was tried.
[[nodiscard]] std::vector<finding> examine_settings(sys::kernel& from,
                                                    std::optional<int> perf_errno = std::nullopt);

/// Looks at the memory of each node, and at what the firmware says of the nodes. `here`: the
/// machine, with measured costs if there are any; nullptr: it could not be found out. `unused`: why
/// it has none though there is a file of them.
[[nodiscard]] std::vector<finding> examine_state(sys::kernel& from, const machine* here,
                                                 const unused_costs& unused = {});

[[nodiscard]] examination examine(const surroundings& around);

/// Another process: what it may use, and how it is set. Calls are tried for the calling process
/// only, so that they are unavailable. "This process" is the other one in what is found. Of
/// `around` the kernel, the machine and its unused costs count. Throws `error` (usage) where there
/// is no such process.
[[nodiscard]] examination examine_process(const surroundings& around, sys::process& of);

/// A machine of which there is only a file. What it does not say is unavailable.
[[nodiscard]] examination examine_recorded(const topology& what);

} // namespace nodewise::doctor
