// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Examines what is permitted and what prevents placement. Nothing here prints or decides an exit
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

/// Tries every system call once, on separate memory and on a separate thread, so that the calling
/// program does not change. Never throws for a refusal: a refusal is a finding.
[[nodiscard]] std::vector<finding> try_calls(const surroundings& around);

/// Reads the settings that affect where pages and threads go. `perf_errno`: the result of
/// perf_event_open, if it was tried.
[[nodiscard]] std::vector<finding> examine_settings(sys::kernel& from,
                                                    std::optional<int> perf_errno = std::nullopt);

/// Examines the memory of each node, and the firmware's description of the nodes. `here`: the
/// machine, with measured costs if there are any; nullptr: could not be read. `unused`: why the
/// machine has no measured costs although there is a file of them.
[[nodiscard]] std::vector<finding> examine_state(sys::kernel& from, const machine* here,
                                                 const unused_costs& unused = {});

[[nodiscard]] examination examine(const surroundings& around);

/// Examines another process: what it may use, and its settings. Calls can be tried for the calling
/// process only, so they are unavailable. In the findings, "this process" is the other one. Uses
/// the kernel, the machine and its unused costs of `around`. Throws `error` (usage) if there is no
/// such process.
[[nodiscard]] examination examine_process(const surroundings& around, sys::process& of);

/// Examines a machine that is known from a file only. What the file lacks is unavailable.
[[nodiscard]] examination examine_recorded(const topology& what);

} // namespace nodewise::doctor
