// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Objects of a process without an agent: the named areas of its memory map.
#pragma once

#include <cstddef>

#include "attribution/life.hpp"
#include "observe/observer.hpp"
#include "profile/profile.hpp"

namespace nodewise::attribution {

/// Adds objects for the areas that hold data and have pages in memory; skips small ones and code.
/// The objects refer to `memory`.
void add_mapped(life& into, const observe::page_map& memory);

/// Its kind, name, size and pages.
[[nodiscard]] profile::object object_of_area(const observe::area& what, std::size_t page_bytes);

} // namespace nodewise::attribution
