// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that loops over entries ask for before they use it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <nodewise/detail/sparse/read_distance.hpp>

namespace nodewise::inline v0::detail {

// `entries(k)` is called before a vector of entries at k is used, `elements(k, n)` before n
// elements of x are. These are templates of kernels, compiled as a part of them for each
// instruction set.

struct nothing_ahead {
  [[gnu::always_inline]] void entries(std::ptrdiff_t) const {}
  [[gnu::always_inline]] void elements(std::ptrdiff_t, std::ptrdiff_t) const {}
};

template <class T>
struct entries_ahead {
  const T* values;
  const std::int32_t* columns;

  [[gnu::always_inline]] void entries(std::ptrdiff_t k) const {
    __builtin_prefetch(values + k + entry_prefetch_distance);
    __builtin_prefetch(columns + k + entry_prefetch_distance);
  }
  [[gnu::always_inline]] void elements(std::ptrdiff_t, std::ptrdiff_t) const {}
};

template <class T>
struct elements_ahead {
  entries_ahead<T> both;
  const T* x;
  std::ptrdiff_t last; ///< entry of the worker's part

  [[gnu::always_inline]] void entries(std::ptrdiff_t k) const { both.entries(k); }
  [[gnu::always_inline]] void elements(std::ptrdiff_t k, std::ptrdiff_t n) const {
    for (std::ptrdiff_t i = k + element_prefetch_distance; n > 0; ++i, --n) {
      __builtin_prefetch(x + both.columns[std::min(i, last)]);
    }
  }
};

/// Calls `run` with what suits the distance. `behind` is the entry behind the worker's part.
template <class T, class Run>
void run_asking_ahead(entries_ahead<T> entries, const T* x, std::ptrdiff_t behind,
                      read_distance distance, const Run& run) {
  switch (distance) {
  case read_distance::near:
    return run(nothing_ahead());
  case read_distance::streamed:
    return run(entries);
  case read_distance::far:
    return run(elements_ahead<T>{entries, x, behind - 1});
  }
}

} // namespace nodewise::inline v0::detail
