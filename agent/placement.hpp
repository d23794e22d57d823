// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Gives memory its policies, one for each extent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// Reads the facts for placing from /proc and /sys. It runs in the constructor, so that no thread
/// opens these files later (agent/own_descriptors.hpp).
void read_system_facts() noexcept;
/// Reads them later by `apart`, where the files take no descriptor number from the program.
using call_apart = void(void (*work)(void*), void* with) noexcept;
void read_system_facts_by(call_apart* apart) noexcept;

/// The system's page.
[[nodiscard]] std::size_t page_bytes() noexcept;

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// An object of this kind (NODEWISE_AGENT_HEAP or another) and a length of whole pages. Its address
/// and its owners are not known yet.
[[nodiscard]] object unplaced(std::uint32_t kind, std::size_t bytes, const void* caller) noexcept;

/// The alignment that a new object's start should have: the huge page if its blocks are long enough
/// for huge pages, else the page.
[[nodiscard]] std::size_t preferred_alignment(const object& what) noexcept;

/// Maps at least `bytes`, aligned to `alignment`, a power of two, with a page in front of them.
/// nullptr if the kernel refuses.
[[nodiscard]] char* map_behind_page(std::size_t bytes, std::size_t alignment) noexcept;

/// Whether pages that are already in memory stay or migrate.
enum class present_pages { stay, move };

/// Gives the first `placed_bytes` of the object the placement `what.where`. The rest up to
/// `mapped_bytes` belongs to the last owner. Fills in `granule_bytes`, `extents`, `flags` and
/// `refused_errno`. If the kernel refuses, the whole range keeps the program's own policy.
///
/// Policies split a mapping. A growing mremap needs the kernel to join the pieces again, which it
/// does only if they share their anonymous pages. So one page is touched before the split.
void place(object& what, present_pages present) noexcept;

/// Removes the policies of the whole range, so that it is one mapping again.
void reset(object& what) noexcept;
/// The same for memory that is not an object, or is no longer one. False if the kernel refuses.
bool forget_policies(void* start, std::size_t bytes) noexcept;

/// Unmaps a part of the object, or all of it, together with its policies.
void unmap(char* start, std::size_t bytes) noexcept;
/// Reserves room for `count` policies. False if the mappings that policies may make are used up.
[[nodiscard]] bool reserve_extents(std::size_t count) noexcept;
/// Whether a new object is likely to find no room.
[[nodiscard]] bool policies_are_short() noexcept;
void release_extents(std::size_t count) noexcept;
/// The object's policies are gone: returns their room.
void give_back_extents(object& what) noexcept;

} // namespace nodewise::agent
