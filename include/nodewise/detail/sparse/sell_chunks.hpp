// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of chunks of rows and a vector: the loop of one worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <nodewise/detail/sparse/rows.hpp>

namespace nodewise::inline v0::detail {

inline constexpr std::size_t most_chunk_rows = 256;

/// Which row a place in a chunk holds. Rows without entries are marked, because their padding is
/// not a sum; the places behind the last row hold none.
template <class Index>
struct sell_place {
  static constexpr Index none = std::numeric_limits<Index>::min();

  static constexpr Index of(std::size_t row, bool has_entries) noexcept {
    const auto index = static_cast<Index>(row);
    return has_entries ? index : static_cast<Index>(~index);
  }
  static constexpr bool has_entries(Index place) noexcept { return place >= 0; }
  static constexpr std::size_t row(Index place) noexcept {
    return static_cast<std::size_t>(place >= 0 ? place : ~place);
  }
};

/// The arrays of a matrix in SELL-C-sigma. Element j of the row at place i of chunk c is at
/// `starts[c] + j * chunk_rows + i`.
template <class T, class Index>
struct sell_chunks {
  const std::int64_t* starts = nullptr;
  const Index* columns = nullptr;
  const T* values = nullptr;
  const Index* places = nullptr;
  std::size_t chunk_rows = 1;
};

/// Whether the places hold rows with entries, one after the other.
template <class Index>
bool in_order(std::span<const Index> places) noexcept {
  int others = places[0] < 0 ? 1 : 0; // without branches, so that compilers use vectors
  for (std::size_t i = 0; i < places.size(); ++i) {
    others |= places[i] != static_cast<Index>(places[0] + static_cast<Index>(i)) ? 1 : 0;
  }
  return others == 0;
}

/// Uses the sums of a chunk's places.
template <class T, class Index>
void use_sums(std::span<const Index> places, const T* sums, T* y, row_update<T> update) {
  if (in_order(places)) { // as rows of one length are: 0.8 of the time of short rows
    T* const first = y + places[0];
    for (std::size_t i = 0; i < places.size(); ++i) {
      update.apply(first[i], sums[i]);
    }
    return;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != sell_place<Index>::none) {
      update.apply(y[sell_place<Index>::row(places[i])],
                   sell_place<Index>::has_entries(places[i]) ? sums[i] : T{0});
    }
  }
}

template <class T, class Index>
void plain_chunk_products(const sell_chunks<T, Index>& a, index_range chunks, const T* x, T* y,
                          row_update<T> update) {
  T sums[most_chunk_rows];
  for (std::size_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
    std::fill_n(sums, a.chunk_rows, T{0});
    for (auto k = static_cast<std::size_t>(a.starts[chunk]);
         k < static_cast<std::size_t>(a.starts[chunk + 1]); k += a.chunk_rows) {
      for (std::size_t i = 0; i < a.chunk_rows; ++i) {
        sums[i] += a.values[k + i] * x[a.columns[k + i]];
      }
    }
    use_sums<T, Index>({a.places + chunk * a.chunk_rows, a.chunk_rows}, sums, y, update);
  }
}

/// The same with the widest vectors that this processor has. `chunk_rows` may be any number.
NODEWISE_API void vector_chunk_products(const sell_chunks<double, std::int32_t>& a,
                                        index_range chunks, const double* x, double* y,
                                        row_update<double> update, read_distance distance) noexcept;
NODEWISE_API void vector_chunk_products(const sell_chunks<float, std::int32_t>& a,
                                        index_range chunks, const float* x, float* y,
                                        row_update<float> update, read_distance distance) noexcept;

template <class T, class Index>
void chunk_products(const sell_chunks<T, Index>& a, index_range chunks, const T* x, T* y,
                    row_update<T> update, read_distance distance) {
  if constexpr (std::is_same_v<Index, std::int32_t> &&
                (std::is_same_v<T, double> || std::is_same_v<T, float>)) {
    vector_chunk_products(a, chunks, x, y, update, distance);
  } else {
    plain_chunk_products(a, chunks, x, y, update);
  }
}

/// Returns the elements of a chunk with its padding.
template <class Offset, class Index>
std::size_t padded_elements(std::span<const Offset> row_starts, std::span<const Index> places) {
  std::size_t longest = 0;
  for (const Index place : places) {
    if (sell_place<Index>::has_entries(place)) {
      const std::size_t row = sell_place<Index>::row(place);
      longest = std::max(longest, static_cast<std::size_t>(row_starts[row + 1] - row_starts[row]));
    }
  }
  return longest * places.size();
}

/// Writes the places of a worker's rows: `sorted_rows` at a time, long rows first, equally long
/// ones in their order.
template <class Offset, class Index>
void sort_places(std::span<const Offset> row_starts, index_range rows, std::size_t sorted_rows,
                 std::span<Index> places) {
  const auto length = [&](Index place) {
    const std::size_t row = sell_place<Index>::row(place);
    return row_starts[row + 1] - row_starts[row];
  };
  std::ranges::fill(places, sell_place<Index>::none);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::size_t row = rows.first + k;
    places[k] = sell_place<Index>::of(row, row_starts[row + 1] != row_starts[row]);
  }
  for (std::size_t first = 0; sorted_rows > 1 && first < rows.size(); first += sorted_rows) {
    const auto window = places.subspan(first, std::min(sorted_rows, rows.size() - first));
    std::ranges::sort(window, [&](Index a, Index b) {
      return std::pair(length(b), sell_place<Index>::row(a)) <
             std::pair(length(a), sell_place<Index>::row(b));
    });
  }
}

} // namespace nodewise::inline v0::detail
