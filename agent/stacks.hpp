// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where in the program somebody asks for an object: a copy of his stack, for somebody else to
// unwind. Told once for each place, however often it asks.
#pragma once

#include <cstdint>

namespace nodewise::agent {

/// The number of the record that has the stack which this is called on, up to `caller`, the return
/// address into the program, and beyond. Writes it if there is none yet. 0: the thread's stack is
/// not known, or there are too many places. Neither allocates nor locks.
[[nodiscard]] std::uint32_t number_of_stack(const void* caller) noexcept;

/// Stacks without a record, because there were too many places.
[[nodiscard]] std::uint64_t stacks_left_out() noexcept;

/// In a forked child, whose records are its own.
void forget_stacks() noexcept;

} // namespace nodewise::agent
