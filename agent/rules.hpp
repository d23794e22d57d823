// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// The smallest object that `choose` may say yes to.
[[nodiscard]] std::size_t least_bytes(const settings& asked) noexcept;
/// Where nothing is placed and uses are reported by object, every static array that has a page for
/// itself and every group has a name: there are few, and they cost nothing while the program runs.
[[nodiscard]] bool names_small_parts(const settings& asked) noexcept;

/// The rules whose `above` fits the stack on which somebody asks for an object, and whose `code`
/// fits `caller`: to be found out while he asks. A scan of the stack if there are such rules.
[[nodiscard]] rule_set rules_above(const settings& asked, const void* caller) noexcept;

/// Whether a rule is for the group that this caller's small blocks make.
[[nodiscard]] bool names_group(const settings& asked, const void* caller) noexcept;

/// Decides where an object goes, by its kind, size, caller, stack and name: fills in `where` and
/// `rule`. Who asks again, because the object has changed its size, keeps the numbers that rules
/// have given it. Where nobody asked for a placement it is only observed, and `where` is what its
/// pages are counted by. False if it is too small to be of interest.
[[nodiscard]] bool choose(const settings& asked, object& what) noexcept;

/// The rules number the objects of this process, from 0 on.
void number_afresh() noexcept;

} // namespace nodewise::agent
