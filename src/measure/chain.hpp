// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pointer chasing: each load depends on the one before, so the time of a step is the latency of a
// load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nodewise::measure {

/// Links the lines of a buffer into one random cycle (Sattolo, 1986), with a pointer at the start
/// of each line: no prefetcher can predict the next line, and the cycle visits every line once. A
/// partial line at the end stays unchanged. Needs 4 bytes a line while it works (8 beyond 2^32
/// lines). Throws `error` (usage) for a buffer without a line, or lines that cannot hold an aligned
/// pointer.
void link_chain(std::span<std::byte> buffer, std::size_t line_bytes, std::uint64_t seed);

/// Does `steps` dependent loads from `start`, a line of a chain, and returns where they end.
/// Unrolled: a step is one load and nothing else. A chain of n lines returns to its start after n
/// steps.
[[nodiscard]] const void* follow(const void* start, std::size_t steps) noexcept;

} // namespace nodewise::measure
