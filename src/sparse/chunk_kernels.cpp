// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of chunks of rows with the vectors of this processor: compiled for each instruction set,
// chosen when the program runs.
#include <cstddef>
#include <cstdint>

#include <nodewise/detail/sparse/sell_chunks.hpp>

#include "sparse/ahead.hpp"

// As in row_kernels.cpp: places of a chunk are in arrays of vectors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/chunk_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "sparse/elements-inl.hpp"

// Everything up to the end of this namespace is compiled once for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace nodewise::inline v0::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using tag = hn::ScalableTag<T>;

/// Adds up `Vectors` vectors of places of a chunk, from element `first` up to the chunk's last.
template <std::size_t Vectors, class T, class Ahead>
HWY_INLINE void add_up(const sell_chunks<T, std::int32_t> a, std::size_t first, std::size_t last,
                       const T* x, T* sums, const Ahead ahead) {
  const tag<T> d;
  constexpr std::size_t lanes = hn::MaxLanes(tag<T>());
  hn::Vec<tag<T>> sum[Vectors];
  for (auto& each : sum) { // = {} leaves NEON's vectors uninitialised
    each = hn::Zero(d);
  }
  for (std::size_t k = first; k < last; k += a.chunk_rows) {
    for (std::size_t i = 0; i < Vectors; ++i) {
      const std::size_t at = k + i * lanes;
      ahead.entries(static_cast<std::ptrdiff_t>(at));
      ahead.elements(static_cast<std::ptrdiff_t>(at), lanes);
      sum[i] = hn::MulAdd(hn::LoadU(d, a.values + at), elements(d, x, a.columns + at), sum[i]);
    }
  }
  for (std::size_t i = 0; i < Vectors; ++i) {
    hn::StoreU(sum[i], d, sums + i * lanes);
  }
}

template <class T, class Ahead>
void run_chunks(const sell_chunks<T, std::int32_t> a, index_range chunks, const T* x, T* y,
                row_update<T> update, const Ahead ahead) {
  constexpr std::size_t lanes = hn::MaxLanes(tag<T>());
  HWY_ALIGN T sums[most_chunk_rows];
  for (std::size_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
    const auto first = static_cast<std::size_t>(a.starts[chunk]);
    const auto last = static_cast<std::size_t>(a.starts[chunk + 1]);
    std::size_t i = 0;
    for (; i + 2 * lanes <= a.chunk_rows; i += 2 * lanes) {
      add_up<2>(a, first + i, last, x, sums + i, ahead);
    }
    if (i < a.chunk_rows) {
      add_up<1>(a, first + i, last, x, sums + i, ahead);
    }
    use_sums<T, std::int32_t>({a.places + chunk * a.chunk_rows, a.chunk_rows}, sums, y, update);
  }
}

template <class T>
void chunk_products_of(const sell_chunks<T, std::int32_t>& a, index_range chunks, const T* x, T* y,
                       row_update<T> update, read_distance distance) {
  if (a.chunk_rows % hn::MaxLanes(tag<T>()) != 0) {
    plain_chunk_products(a, chunks, x, y, update);
    return;
  }
  const auto behind = static_cast<std::ptrdiff_t>(a.starts[chunks.last]);
  run_asking_ahead(entries_ahead<T>{a.values, a.columns}, x, behind, distance,
                   [&](const auto& ahead) { run_chunks(a, chunks, x, y, update, ahead); });
}

void products_of_doubles(const sell_chunks<double, std::int32_t>& a, index_range chunks,
                         const double* x, double* y, row_update<double> update,
                         read_distance distance) {
  chunk_products_of(a, chunks, x, y, update, distance);
}
void products_of_floats(const sell_chunks<float, std::int32_t>& a, index_range chunks,
                        const float* x, float* y, row_update<float> update,
                        read_distance distance) {
  chunk_products_of(a, chunks, x, y, update, distance);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace nodewise::inline v0::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nodewise::inline v0::detail {

HWY_EXPORT(products_of_doubles);
HWY_EXPORT(products_of_floats);

void vector_chunk_products(const sell_chunks<double, std::int32_t>& a, index_range chunks,
                           const double* x, double* y, row_update<double> update,
                           read_distance distance) noexcept {
  HWY_DYNAMIC_DISPATCH(products_of_doubles)(a, chunks, x, y, update, distance);
}
void vector_chunk_products(const sell_chunks<float, std::int32_t>& a, index_range chunks,
                           const float* x, float* y, row_update<float> update,
                           read_distance distance) noexcept {
  HWY_DYNAMIC_DISPATCH(products_of_floats)(a, chunks, x, y, update, distance);
}

} // namespace nodewise::inline v0::detail

#endif
