// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products and gathers with the vectors of this processor: compiled for each instruction set,
// chosen when the program runs.
#include <nodewise/detail/sparse/sell_chunks.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

// Everything up to the end of this namespace is compiled once for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace nodewise::inline v0::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using tag = hn::ScalableTag<T>;

/// Elements of x at as many indices as a vector has lanes.
template <class T>
HWY_INLINE hn::Vec<tag<T>> gather(const T* x, const std::int32_t* at) {
  const tag<T> d;
#if HWY_TARGET == HWY_AVX2
  // Its gathers are no faster, and QEMU up to 9.0 reads wrong elements with some of them
  // (https://gitlab.com/qemu-project/qemu/-/issues/2474).
  HWY_ALIGN T elements[hn::MaxLanes(tag<T>())];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    elements[i] = x[at[i]];
  }
  return hn::Load(d, elements);
#else
  // Gathers take indices as wide as the elements.
  const hn::RebindToSigned<tag<T>> indices;
  if constexpr (sizeof(T) == sizeof(std::int32_t)) {
    return hn::GatherIndex(d, x, hn::LoadU(indices, at));
  } else {
    const hn::Rebind<std::int32_t, tag<T>> narrow;
    return hn::GatherIndex(d, x, hn::PromoteTo(indices, hn::LoadU(narrow, at)));
  }
#endif
}

/// Adds up `vectors` vectors of places of a chunk; parameters, since SVE's vectors cannot be in an
/// array.
template <class T>
HWY_INLINE void one_vector(const sell_chunks<T, std::int32_t>& a, std::size_t first,
                           std::size_t last, const T* x, T* sums) {
  const tag<T> d;
  auto sum = hn::Zero(d);
  for (std::size_t k = first; k < last; k += a.chunk_rows) {
    sum = hn::MulAdd(hn::LoadU(d, a.values + k), gather(x, a.columns + k), sum);
  }
  hn::StoreU(sum, d, sums);
}
template <class T>
HWY_INLINE void two_vectors(const sell_chunks<T, std::int32_t>& a, std::size_t first,
                            std::size_t last, const T* x, T* sums) {
  const tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = sum0;
  for (std::size_t k = first; k < last; k += a.chunk_rows) {
    sum0 = hn::MulAdd(hn::LoadU(d, a.values + k), gather(x, a.columns + k), sum0);
    const std::size_t next = k + lanes;
    sum1 = hn::MulAdd(hn::LoadU(d, a.values + next), gather(x, a.columns + next), sum1);
  }
  hn::StoreU(sum0, d, sums);
  hn::StoreU(sum1, d, sums + lanes);
}

template <class T>
void products(const sell_chunks<T, std::int32_t>& a, index_range chunks, const T* x, T* y,
              row_update<T> update) {
  const std::size_t lanes = hn::Lanes(tag<T>());
  if (a.chunk_rows % lanes != 0) {
    plain_chunk_products(a, chunks, x, y, update);
    return;
  }
  HWY_ALIGN T sums[most_chunk_rows];
  for (std::size_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
    const auto first = static_cast<std::size_t>(a.starts[chunk]);
    const auto last = static_cast<std::size_t>(a.starts[chunk + 1]);
    std::size_t i = 0;
    for (; i + 2 * lanes <= a.chunk_rows; i += 2 * lanes) {
      two_vectors(a, first + i, last, x, sums + i);
    }
    if (i < a.chunk_rows) {
      one_vector(a, first + i, last, x, sums + i);
    }
    use_sums<T, std::int32_t>({a.places + chunk * a.chunk_rows, a.chunk_rows}, sums, y, update);
  }
}

void products_of_doubles(const sell_chunks<double, std::int32_t>& a, index_range chunks,
                         const double* x, double* y, row_update<double> update) {
  products(a, chunks, x, y, update);
}
void products_of_floats(const sell_chunks<float, std::int32_t>& a, index_range chunks,
                        const float* x, float* y, row_update<float> update) {
  products(a, chunks, x, y, update);
}

template <class T>
void gathered(const T* x, const std::int32_t* columns, std::size_t count, T* to) {
  const tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    hn::StoreU(gather(x, columns + k), d, to + k);
  }
  for (; k < count; ++k) {
    to[k] = x[columns[k]];
  }
}

void gathered_doubles(const double* x, const std::int32_t* columns, std::size_t count, double* to) {
  gathered(x, columns, count, to);
}
void gathered_floats(const float* x, const std::int32_t* columns, std::size_t count, float* to) {
  gathered(x, columns, count, to);
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
                           const double* x, double* y, row_update<double> update) noexcept {
  HWY_DYNAMIC_DISPATCH(products_of_doubles)(a, chunks, x, y, update);
}
void vector_chunk_products(const sell_chunks<float, std::int32_t>& a, index_range chunks,
                           const float* x, float* y, row_update<float> update) noexcept {
  HWY_DYNAMIC_DISPATCH(products_of_floats)(a, chunks, x, y, update);
}

HWY_EXPORT(gathered_doubles);
HWY_EXPORT(gathered_floats);

bool has_fast_gathers() noexcept {
  constexpr auto avx3_or_better = (HWY_AVX3 << 1) - 1; // of x86; better ones have lower bits
  return (hwy::SupportedTargets() & avx3_or_better) != 0;
}

void gather(const double* x, std::span<const std::int32_t> columns, double* to) noexcept {
  HWY_DYNAMIC_DISPATCH(gathered_doubles)(x, columns.data(), columns.size(), to);
}
void gather(const float* x, std::span<const std::int32_t> columns, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(gathered_floats)(x, columns.data(), columns.size(), to);
}

} // namespace nodewise::inline v0::detail

#endif
