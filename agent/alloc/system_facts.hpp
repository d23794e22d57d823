// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Facts for placing from /proc and /sys. They are read once: in the constructor, or earlier if
// another constructor makes a large object. In trace mode they are read when they are first needed.
#pragma once

#include <cstddef>

namespace nodewise::agent {

/// It runs in the constructor, so that no thread opens these files later
/// (agent/own_descriptors.hpp).
void read_system_facts() noexcept;
/// Reads them later by `apart`, where the files take no descriptor number from the program.
using call_apart = void(void (*work)(void*), void* with) noexcept;
void read_system_facts_by(call_apart* apart) noexcept;

/// The size of a huge page if the kernel uses huge pages unasked, else 0.
[[nodiscard]] std::size_t huge_page_bytes() noexcept;
/// Mappings that policies may make. Above vm.max_map_count the program's malloc and mmap fail.
[[nodiscard]] std::size_t extent_limit() noexcept;

} // namespace nodewise::agent
