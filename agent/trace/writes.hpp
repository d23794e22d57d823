// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// System calls that write into objects: their first touches cause no fault that an ordinary
// observer sees. Consecutive calls by one place and one thread that write on from where the last
// one ended make one record.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
/// For the library that wraps read() and similar functions (agent/trace/reads.cpp): a call on
/// behalf of `caller` has written `bytes` bytes from `start` on. Takes a few nanoseconds if no
/// object is there. May be called in a signal handler, and leaves errno alone.
void nodewise_agent_wrote(void* start, std::size_t bytes, const void* caller) noexcept;
}

namespace nodewise::agent {

/// The thread ends: records its writes that have no record yet.
void tell_own_writes() noexcept;
/// The process ends: the same for all threads.
void tell_all_writes() noexcept;
/// In a forked child.
void forget_writes() noexcept;
[[nodiscard]] std::uint64_t writes_left_out() noexcept;

} // namespace nodewise::agent
