// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Gives memory its policies, one for each extent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// An object of this kind (NODEWISE_AGENT_HEAP or another) and a length of whole pages. Its address
/// and its owners are not known yet.
[[nodiscard]] object unplaced(std::uint32_t kind, std::size_t bytes, const void* caller) noexcept;

/// The alignment that a new object's start should have: the huge page if its blocks are long enough
/// for huge pages, else the page.
[[nodiscard]] std::size_t preferred_alignment(const object& what) noexcept;

/// Whether the object is divided into extents, each with one node. `what` has a placement.
[[nodiscard]] bool by_extents(const object& what) noexcept;
/// The granule that edges are rounded to without huge pages. `what` has a placement.
[[nodiscard]] std::size_t granule_in_base_pages(const object& what) noexcept;

/// Whether pages that are already in memory stay or migrate.
enum class present_pages { stay, move };

/// Gives the first `placed_bytes` of the object the placement `what.where`. The rest up to
/// `mapped_bytes` belongs to the last owner. Fills in `granule_bytes`, `extents`, `flags` and
/// `refused_errno`. If the kernel refuses, the whole range keeps the program's own policy.
///
/// Policies split a mapping. A growing mremap needs the kernel to join the pieces again, which it
/// does only if they share their anonymous pages. So one page is touched before the split.
///
/// Also requests huge pages, if the settings do.
void place(object& what, present_pages present) noexcept;

/// Removes the policies of the whole range, so that it is one mapping again.
void reset(object& what) noexcept;
/// The same for memory that is not an object, or is no longer one. False if the kernel refuses.
bool forget_policies(void* start, std::size_t bytes) noexcept;

/// Reserves room for `count` policies, if necessary that of kept blocks. False if the mappings that
/// policies may make are used up.
[[nodiscard]] bool reserve_extents(std::size_t count) noexcept;

} // namespace nodewise::agent
