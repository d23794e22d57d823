// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// Gives the object a mapping of its own, with a page in front. Kept blocks are given up for it.
/// False if the kernel has no memory.
[[nodiscard]] bool map_for(object& what, std::size_t alignment) noexcept;
/// For the time before the next allocator is known.
[[nodiscard]] void* allocate_unplaced(std::size_t bytes, std::size_t alignment) noexcept;

} // namespace nodewise::agent
