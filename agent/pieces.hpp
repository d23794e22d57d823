// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// mremap() of memory that is one mapping to the program and several to the kernel.
#pragma once

#include <cstddef>

namespace nodewise::agent {

using mremap_function = void*(void*, std::size_t, std::size_t, int, ...);

/// After `remap`, which is mremap(), has answered EFAULT: grows or moves the range mapping by
/// mapping, so that each keeps its pages and its rights. Its last one grows. EFAULT if it is not
/// anonymous memory with the same rights all over, or is not all there: the program's own affair.
[[nodiscard]] void* remap_pieces(mremap_function& remap, void* old, std::size_t old_bytes,
                                 std::size_t bytes, int flags, void* address) noexcept;

} // namespace nodewise::agent
