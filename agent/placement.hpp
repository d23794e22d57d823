// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Giving memory its policies, one an extent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// Reads what placing depends on from /proc and /sys: in the constructor, so that later nobody
/// opens these files (agent/own_descriptors.hpp).
void read_system_facts() noexcept;
/// How they are read later: where the files take no descriptor number from the program.
using call_apart = void(void (*work)(void*), void* with) noexcept;
void read_system_facts_by(call_apart* apart) noexcept;

/// The system's page.
[[nodiscard]] std::size_t page_bytes() noexcept;

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// An object of this kind and length of whole pages, NODEWISE_AGENT_HEAP or another; nothing is
/// known yet of where it is and who owns it.
[[nodiscard]] object unplaced(std::uint32_t kind, std::size_t bytes, const void* caller) noexcept;

/// What a new object's start should be aligned to: the huge page where its blocks are long enough
/// for huge pages, else the page.
[[nodiscard]] std::size_t preferred_alignment(const object& what) noexcept;

/// Maps at least `bytes`, aligned to `alignment`, a power of two, with a page in front of them.
/// nullptr if the kernel refuses.
[[nodiscard]] char* map_behind_page(std::size_t bytes, std::size_t alignment) noexcept;

/// What becomes of pages that are in memory already.
enum class present_pages { stay, move };

/// Gives the object's pages the placement that `what.where` says, for `placed_bytes`; what follows
/// up to `mapped_bytes` belongs to the last owner. Fills in `granule_bytes`, `extents`, `flags` and
/// `refused_errno`. Where the kernel refuses, the whole range keeps the program's own policy.
///
/// Policies split a mapping. The kernel joins the pieces again, which a growing mremap needs, only
/// if they have their anonymous pages in one place, so one page is touched before they are split.
void place(object& what, present_pages present) noexcept;

/// Takes the policies of the whole range back, so that it is one mapping again.
void reset(object& what) noexcept;
/// The same for memory that is no object, or none any more. False if the kernel refuses.
bool forget_policies(void* start, std::size_t bytes) noexcept;

/// Unmaps a part of the object, or all of it; its policies go with it.
void unmap(char* start, std::size_t bytes) noexcept;
/// Makes room for so many policies. False if the mappings that policies may make are used up.
[[nodiscard]] bool reserve_extents(std::size_t count) noexcept;
/// Whether a new object is likely to find no room.
[[nodiscard]] bool policies_are_short() noexcept;
void release_extents(std::size_t count) noexcept;
/// The object's policies are gone: others may have as many.
void give_back_extents(object& what) noexcept;

} // namespace nodewise::agent
