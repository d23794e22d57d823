// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A chase of pointers: each load needs the one before, so the time of a step is the latency of a
// load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nodewise::measure {

/// Links the lines of a buffer into one random cycle (Sattolo, 1986), a pointer at the start of
/// each line: no prefetcher knows the next, and no line comes twice before all others have come. A
/// rest at the end that is no line stays as it is. Takes 4 bytes a line while it works (8 beyond
/// 2^32 lines). Throws `error` (usage) for a buffer without a line, or lines that cannot hold an
/// aligned pointer.
void link_chain(std::span<std::byte> buffer, std::size_t line_bytes, std::uint64_t seed);

/// So many dependent loads from `start`, a line of a chain; where they end. Unrolled: a step is one
/// load and nothing else. A chain of n lines is back at its start after n steps.
[[nodiscard]] const void* follow(const void* start, std::size_t steps) noexcept;

} // namespace nodewise::measure
