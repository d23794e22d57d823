// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Static arrays: known by the ELF symbols of the program and its libraries, placed before somebody
// uses them. Only memory that the file does not fill (.bss) is placed: it is anonymous.
#pragma once

#include <cstdint>

namespace nodewise::agent {

/// Places the static arrays of modules not seen yet, and drops those of modules that are gone. To
/// be called once when the process is known to the report, then before threads start and before the
/// report is written; when no module has come or gone it costs a few nanoseconds.
void place_statics() noexcept;
/// Modules with large zero-initialised memory that no symbol names, or whose file cannot be read.
[[nodiscard]] std::uint64_t stripped_modules() noexcept;
/// How many modules have been unloaded, as of the last look at them.
[[nodiscard]] unsigned long long unloaded_modules() noexcept;
/// In a forked child: it must not wait for a thread that it has not got.
void forget_statics() noexcept;

} // namespace nodewise::agent
