// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How far from the processor the elements of the input vector are that a worker's rows read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <nodewise/export.hpp>

namespace nodewise::inline v0::detail {

inline constexpr std::size_t line_bytes = 64; ///< of a cache line

/// How rows read the input vector, and what is fastest then. The figures are of a Zen 5 with an L2
/// cache of 1 MiB and an L3 cache of 32 MiB, as times per entry beside the plain loop's.
enum class read_distance {
  /// Lines that are in the processor's own caches. The plain loop.
  near,
  /// Lines all over a vector that a shared cache holds. Gathers of many elements before they are
  /// used: 0.6 with 16 entries a row and a vector of 4 MiB.
  scattered,
  /// Lines all over a vector that no cache holds. Each element is asked for long before it is used:
  /// 0.6 to 0.8 with 4 or 8 entries a row and a vector of 32 MiB; gathers take 1.4.
  far
};

/// How many entries ahead far elements are asked for: with 64 and with 512, products of one thread
/// took 1.1 to 1.2 times as long.
inline constexpr std::size_t prefetch_distance = 128;

/// By samples of the columns, in the order of the entries. Far or scattered are only those of which
/// at least a quarter of the entries is the first in its sample to read its cache line: grids and
/// bands are well below that. The span of the samples decides which.
template <class Index>
read_distance read_distance_of(std::span<const Index> columns, std::size_t element_bytes) {
  constexpr std::size_t own_cache = std::size_t{1} << 20;
  constexpr std::size_t shared_cache = std::size_t{16} << 20;
  constexpr std::size_t sample = 4096;
  constexpr std::size_t samples = 16;
  const std::size_t per_line = std::max(line_bytes / element_bytes, std::size_t{1});
  const std::size_t step = std::max(columns.size() / samples, sample);
  std::size_t seen = 0;
  std::size_t lines = 0;
  std::size_t beyond_own = 0;
  std::size_t beyond_shared = 0;
  for (std::size_t first = 0; first + sample <= columns.size(); first += step) {
    std::array<std::size_t, sample> read;
    std::ranges::transform(columns.subspan(first, sample), read.begin(), [&](Index column) {
      return static_cast<std::size_t>(column) / per_line;
    });
    std::ranges::sort(read);
    const std::size_t span = (read.back() - read.front()) * line_bytes;
    beyond_own += span > own_cache ? sample : 0;
    beyond_shared += span > shared_cache ? sample : 0;
    lines += static_cast<std::size_t>(std::ranges::unique(read).begin() - read.begin());
    seen += sample;
  }
  if (seen == 0 || 4 * lines < seen || 2 * beyond_own < seen) {
    return read_distance::near;
  }
  return 2 * beyond_shared < seen ? read_distance::scattered : read_distance::far;
}

/// Whether this processor gathers elements faster than it loads them one by one: those with
/// AVX-512.
[[nodiscard]] NODEWISE_API bool has_fast_gathers() noexcept;

// Copies the elements of x at these columns.

NODEWISE_API void gather(const double* x, std::span<const std::int32_t> columns,
                         double* to) noexcept;
NODEWISE_API void gather(const float* x, std::span<const std::int32_t> columns, float* to) noexcept;

} // namespace nodewise::inline v0::detail
