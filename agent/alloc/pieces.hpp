// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// mremap() of memory that is one mapping for the program and several for the kernel.
#pragma once

#include <cstddef>

namespace nodewise::agent {

using remap_function = void*(void* old, std::size_t old_bytes, std::size_t bytes, int flags,
                             void* address) noexcept;

/// For the time after `remap`, which is mremap(), has failed with EFAULT. Grows or moves the range
/// mapping by mapping, so that each keeps its pages and access rights. The last mapping grows.
/// EFAULT, as without the agent, if the range has gaps, different rights, or other than anonymous
/// memory.
[[nodiscard]] void* remap_pieces(remap_function& remap, void* old, std::size_t old_bytes,
                                 std::size_t bytes, int flags, void* address) noexcept;

} // namespace nodewise::agent
