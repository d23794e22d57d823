// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "observe/proc_text.hpp"

namespace nodewise::observe {

/// Bytes by node in one of numastat's categories.
struct memory_totals {
  std::string_view category;
  std::map<int, std::uint64_t> bytes;
};

/// Huge, Heap, Stack, Private: what `numastat -p` prints. Private is all the rest, shared memory
/// and files included.
[[nodiscard]] std::vector<memory_totals> totals_of(std::span<const numa_line> lines,
                                                   std::size_t page_bytes);

} // namespace nodewise::observe
