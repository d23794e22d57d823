// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pseudo-random numbers that are a function of their index: no state between them.
#pragma once

#include <cstdint>

namespace nodewise::measure {

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), one round shorter: 64 bits from
/// an index.
[[nodiscard]] inline std::uint64_t scramble(std::uint64_t index) noexcept {
  std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93U;
  return x ^ (x >> 32);
}

/// 64 random bits as a number below `bound`, which is not 0. The bias is bound / 2^64.
[[nodiscard]] inline std::uint64_t below(std::uint64_t random, std::uint64_t bound) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(random) * bound) >> 64);
}

} // namespace nodewise::measure
