// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "agent/alloc/object.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// The smallest object that `choose` may accept.
[[nodiscard]] std::size_t least_bytes(const settings& asked) noexcept;
/// True if nothing is placed and uses are reported by object. Then every group, and every static
/// array with a page of its own, has a name: they are few and cost nothing at run time.
[[nodiscard]] bool names_small_parts(const settings& asked) noexcept;

/// The rules whose `above` fits the calling thread's stack and whose `code` fits `caller`. Call it
/// during the request for the object. It scans the stack if there are such rules.
[[nodiscard]] rule_set rules_above(const settings& asked, const void* caller) noexcept;

/// Whether a rule applies to the group of this caller's small blocks.
[[nodiscard]] bool names_group(const settings& asked, const void* caller) noexcept;

/// Decides where an object goes, by its kind, size, caller, stack and name. Fills in `where` and
/// `rule`. If called again after the object changed its size, the object keeps the numbers that
/// rules have given it. Without a requested placement the object is only observed, and its pages
/// are counted by `where`. False if the object is too small.
[[nodiscard]] bool choose(const settings& asked, object& what) noexcept;

/// Restarts the numbers that rules give to objects at 0, for a new process.
void number_afresh() noexcept;

} // namespace nodewise::agent
