// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "observe/frames.hpp"
#include "observe/sample.hpp"
#include "sys/perf_record.hpp"

namespace nodewise::observe {

// Converts the kernel's records into the types of sample.hpp.
[[nodiscard]] access_sample sample_of(const sys::perf_sample& record, int cpu,
                                      const frame_map& frames);
[[nodiscard]] module_mapped module_of(const sys::perf_mapping& record);
[[nodiscard]] task_event event_of(const sys::perf_task& record);
[[nodiscard]] task_event event_of(const sys::perf_name& record);

} // namespace nodewise::observe
