// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Static arrays: found by the ELF symbols of the program and its libraries, and placed before their
// first use. Only memory that the file does not fill (.bss) is placed, since it is anonymous.
#pragma once

#include <cstdint>

namespace nodewise::agent {

/// Places the static arrays of new modules, and drops those of unloaded modules. Call it once when
/// the report has the process's start, then before threads start and before the report is written.
/// It costs a few nanoseconds if no module was loaded or unloaded.
void place_statics() noexcept;
/// Modules with large zero-initialised memory that no symbol names, or whose file cannot be read.
[[nodiscard]] std::uint64_t stripped_modules() noexcept;
/// The number of unloaded modules at the last check.
[[nodiscard]] unsigned long long unloaded_modules() noexcept;
/// In a forked child: it must not wait for a thread that it did not inherit.
void forget_statics() noexcept;

} // namespace nodewise::agent
