// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// The smallest object that `choose` may say yes to.
[[nodiscard]] std::size_t least_bytes(const settings& asked) noexcept;

/// Decides where an object goes, by its kind, size, caller and name: fills in `where` and `rule`.
/// Where nobody asked for a placement it is only observed, and `where` is what its pages are
/// counted by. False if it is too small to be of interest.
[[nodiscard]] bool choose(const settings& asked, object& what) noexcept;

} // namespace nodewise::agent
