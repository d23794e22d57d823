// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nodewise::observe {

/// Throws `error` (system): events of this thread (0: for rings) may not be opened; the hint says
/// what would permit it.
[[noreturn]] void throw_events_refused(int tid, std::size_t events, int errno_value);
/// Throws `error` (system): there is no memory for rings, not even of the smallest size.
[[noreturn]] void throw_rings_refused(std::size_t rings, std::size_t bytes, int errno_value);

} // namespace nodewise::observe
