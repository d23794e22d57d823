// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The room for policies: each makes a mapping, and the kernel limits the mappings of a process.
#pragma once

#include <cstddef>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// Reserves room for `count` policies. False if the mappings that policies may make are used up.
[[nodiscard]] bool try_reserve_extents(std::size_t count) noexcept;
/// An eighth of the limit is for objects that need only few.
[[nodiscard]] std::size_t extents_left() noexcept;
/// Whether a new object is likely to find no room.
[[nodiscard]] bool policies_are_short() noexcept;
void release_extents(std::size_t count) noexcept;
/// The object's policies are gone: returns their room.
void give_back_extents(object& what) noexcept;

} // namespace nodewise::agent
