// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Facts for placing from /proc and /sys. They are read once: in the constructor, or earlier if
// another constructor makes a large object. In trace mode they are read when they are first needed.
//
// They limit the room for policies: each makes a mapping, and the kernel limits the mappings of a
// process.
#pragma once

#include <cstddef>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// It runs in the constructor, so that no thread opens these files later
/// (agent/own_descriptors.hpp).
void read_system_facts() noexcept;
/// Reads them later by `apart`, where the files take no descriptor number from the program.
using call_apart = void(void (*work)(void*), void* with) noexcept;
void read_system_facts_by(call_apart* apart) noexcept;

/// The size of a huge page if large objects have huge pages, because the kernel uses them unasked
/// or the settings request them; else 0.
[[nodiscard]] std::size_t huge_page_bytes() noexcept;

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
