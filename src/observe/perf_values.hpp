// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "observe/frames.hpp"
#include "observe/sample.hpp"
#include "sys/perf_record.hpp"

namespace nodewise::observe {

// What the kernel's records say, in the words of observation.
[[nodiscard]] access_sample sample_of(const sys::perf_sample& record, int cpu,
                                      const frame_map& frames);
[[nodiscard]] module_mapped module_of(const sys::perf_mapping& record);
[[nodiscard]] task_event event_of(const sys::perf_task& record);
[[nodiscard]] task_event event_of(const sys::perf_name& record);

} // namespace nodewise::observe
