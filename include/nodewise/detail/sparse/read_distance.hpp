// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How far from the processor the memory is that a worker's rows read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace nodewise::inline v0::detail {

inline constexpr std::size_t line_bytes = 64; ///< of a cache line

/// How products of rows read their memory, and what is fastest then.
enum class read_distance {
  /// The worker's entries stay in the processor's own caches. Nothing is asked for ahead: that
  /// takes 1.1 of the time.
  near,
  /// Entries come from memory or from a shared cache. They are asked for ahead: 0.5 to 0.8 of the
  /// time on a virtual Zen 5.
  streamed,
  /// Besides, the entries read lines all over a vector that no cache holds. Each element is asked
  /// for before it is used, too: 0.6 of the time with 4 entries a row and a vector of 32 MiB.
  far
};

// How many entries ahead memory is asked for.

/// Values and columns. With 512 and with 2048, products took 0.97 to 1.2 times as long.
inline constexpr std::ptrdiff_t entry_prefetch_distance = 1024;
/// Elements of the vector. With 64 and with 512, products took 1.1 to 1.2 times as long.
inline constexpr std::ptrdiff_t element_prefetch_distance = 128;

/// By samples of the columns, in the order of the entries. Far are only those of which at least a
/// quarter of the entries is the first in its sample to read its cache line: grids and bands are
/// well below that.
template <class Index>
read_distance read_distance_of(std::span<const Index> columns, std::size_t element_bytes) {
  constexpr std::size_t own_cache = std::size_t{1} << 20;
  constexpr std::size_t shared_cache = std::size_t{16} << 20;
  constexpr std::size_t sample = 4096;
  constexpr std::size_t samples = 16;
  if (columns.size() * (element_bytes + sizeof(Index)) <= own_cache) {
    return read_distance::near;
  }
  const std::size_t per_line = std::max(line_bytes / element_bytes, std::size_t{1});
  const std::size_t step = std::max(columns.size() / samples, sample);
  std::size_t seen = 0;
  std::size_t lines = 0;
  std::size_t beyond_cache = 0;
  for (std::size_t first = 0; first + sample <= columns.size(); first += step) {
    std::array<std::size_t, sample> read;
    std::ranges::transform(columns.subspan(first, sample), read.begin(), [&](Index column) {
      return static_cast<std::size_t>(column) / per_line;
    });
    std::ranges::sort(read);
    const std::size_t span = (read.back() - read.front()) * line_bytes;
    beyond_cache += span > shared_cache ? sample : 0;
    lines += static_cast<std::size_t>(std::ranges::unique(read).begin() - read.begin());
    seen += sample;
  }
  const bool is_far = seen != 0 && 4 * lines >= seen && 2 * beyond_cache >= seen;
  return is_far ? read_distance::far : read_distance::streamed;
}

} // namespace nodewise::inline v0::detail
