// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Objects of a process that no agent tells of: what its memory map has names for.
#pragma once

#include <cstddef>

#include "attribution/life.hpp"
#include "observe/observer.hpp"
#include "profile/profile.hpp"

namespace nodewise::attribution {

/// Objects for the areas that hold data and have pages in memory; the small ones among them and
/// code are left to the rest. They refer to `memory`.
void add_mapped(life& into, const observe::page_map& memory);

/// Kind, name, size and pages of it.
[[nodiscard]] profile::object object_of_area(const observe::area& what, std::size_t page_bytes);

} // namespace nodewise::attribution
