// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// System calls that write into objects: pages that come into memory by them leave no fault that an
// ordinary observer sees. Calls of one place and one thread that go on where they were are told as
// one.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
/// For the library that stands in front of read() and the like (agent/reads.cpp): a call on behalf
/// of `caller` has written `bytes` bytes from `start` on. A few nanoseconds if no object is there.
/// May be called in a signal handler, and leaves errno alone.
void nodewise_agent_wrote(void* start, std::size_t bytes, const void* caller) noexcept;
}

namespace nodewise::agent {

/// Tells what this thread has not told yet; it ends.
void tell_own_writes() noexcept;
/// The same for all threads: the process ends.
void tell_all_writes() noexcept;
/// In a forked child.
void forget_writes() noexcept;
[[nodiscard]] std::uint64_t writes_left_out() noexcept;

} // namespace nodewise::agent
