// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The time between a program's own marks, as libnodewise-marks.so writes it.
#pragma once

#include <string_view>

namespace nodewise::tune {

/// The seconds that the region was open in a run. `contents`: of the file that NODEWISE_MARK_TIMES
/// named; agent/marks/times.cpp describes it. If several processes have the region, the longest
/// time counts, since the others wait for it. Names are compared up to their 63rd byte.
///
/// Throws `error` (input) if no process opened the region, with the names of those that occur; if a
/// process ended inside it by _exit, exec or a signal; if the region took no time; if the file is
/// incomplete, or not such a file. An empty file: the library was never loaded.
[[nodiscard]] double phase_seconds(std::string_view contents, std::string_view name);

} // namespace nodewise::tune
