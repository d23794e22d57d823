// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// When, by whom and on which stack objects are made: for who witnesses, and so that a process which
// is killed leaves more than nothing.
#pragma once

#include <cstdint>

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// The birth of an object: to be called by who makes it, on behalf of `caller`. All 0 for who is no
/// witness.
[[nodiscard]] birth begin_life(const void* caller) noexcept;
/// Where the object is as of `time_ns`, and all that is known of it so far.
void tell_birth(const object& what, std::uint64_t time_ns) noexcept;
[[nodiscard]] std::uint64_t births_left_out() noexcept;
/// In a new process.
void forget_births() noexcept;

} // namespace nodewise::agent
