// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products of rows with the vectors of this processor: compiled for each instruction set, chosen
// when the program runs.
//
// Eight entries of a row are loaded as vectors, multiplied and added to eight sums.
#include <cstddef>
#include <cstdint>

#include <nodewise/detail/sparse/rows.hpp>

#include "sparse/ahead.hpp"

// Vectors of unknown length cannot be one of eight sums; their processors have NEON, too.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/row_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "sparse/elements-inl.hpp"

// Everything up to the end of this namespace is compiled once for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace nodewise::inline v0::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <class D>
HWY_INLINE hn::TFromD<D> lane_total(D, hn::Vec<D> v) {
  return hn::GetLane(v);
}
#else
/// The sum of the lanes: always those that are half of the vector apart first.
template <class D>
HWY_INLINE hn::TFromD<D> lane_total(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 2) {
    return hn::GetLane(v) + hn::ExtractLane(v, 1);
  } else {
    const hn::Half<D> half;
    return lane_total(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

/// `Lanes` sums, in as few vectors as this processor needs. Their order of additions is the same
/// for any length of its vectors.
template <class T, std::size_t Lanes>
class sums_of {
  using D = hn::CappedTag<T, Lanes>;
  static constexpr std::size_t vector_lanes = hn::MaxLanes(D());
  static constexpr std::size_t vectors = Lanes / vector_lanes;

 public:
  HWY_INLINE sums_of() {
    for (auto& each : sums_) { // = {} leaves NEON's vectors uninitialised
      each = hn::Zero(D());
    }
  }
  HWY_INLINE void add(const T* values, const std::int32_t* columns, const T* x) {
    const D d;
    for (std::size_t i = 0; i < vectors; ++i) {
      const std::size_t k = i * vector_lanes;
      sums_[i] = hn::MulAdd(hn::LoadU(d, values + k), elements(d, x, columns + k), sums_[i]);
    }
  }
  /// Adds the first `count` of them. Reads all.
  HWY_INLINE void add_first(std::size_t count, const T* values, const std::int32_t* columns,
                            const T* x) {
    const D d;
    for (std::size_t i = 0; i < vectors; ++i) {
      const std::size_t k = i * vector_lanes;
      const auto some = hn::FirstN(d, count > k ? count - k : 0);
      const auto element = elements(d, x, columns + k); // may be infinite outside of the row
      sums_[i] =
          hn::IfThenElse(some, hn::MulAdd(hn::LoadU(d, values + k), element, sums_[i]), sums_[i]);
    }
  }
  HWY_INLINE T total() {
    for (std::size_t half = vectors / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        sums_[i] = hn::Add(sums_[i], sums_[i + half]);
      }
    }
    return lane_total(D(), sums_[0]);
  }

 private:
  hn::Vec<D> sums_[vectors];
};

/// Rows whose ends the processor predicts: no more entries are read than there are.
template <class T, class Offset, class Ahead>
void even_rows(const vector_rows<T, Offset> a, index_range rows, const T* x, T* y,
               row_update<T> update, const Ahead ahead) {
  auto k = static_cast<std::ptrdiff_t>(a.starts[rows.first]);
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const auto end = static_cast<std::ptrdiff_t>(a.starts[row + 1]);
    ahead.entries(k);
    T sum = 0;
    if (end - k >= 8) {
      sums_of<T, 8> sums;
      while (true) {
        ahead.elements(k, 8);
        sums.add(a.values + k, a.columns + k, x);
        k += 8;
        if (end - k < 8) {
          break;
        }
        ahead.entries(k);
      }
      sum = sums.total();
    }
    if (end - k >= 4) {
      ahead.elements(k, 4);
      sums_of<T, 4> sums;
      sums.add(a.values + k, a.columns + k, x);
      sum += sums.total();
      k += 4;
    }
    ahead.elements(k, end - k);
    for (; k < end; ++k) {
      sum += a.values[k] * x[a.columns[k]];
    }
    update.apply(y[row], sum);
  }
}

/// Rows of which the processor cannot predict the ends: the last vector of a row reads entries of
/// the next rows, too, and leaves them out of the sum. Half the time with 4 to 20 entries a row.
template <class T, class Offset, class Ahead>
void uneven_rows(const vector_rows<T, Offset> a, index_range rows, const T* x, T* y,
                 row_update<T> update, const Ahead ahead) {
  std::size_t whole = rows.last; // behind the last row with 8 more entries in the matrix
  while (whole > rows.first && static_cast<std::size_t>(a.starts[whole]) + 8 > a.entries) {
    --whole;
  }
  auto k = static_cast<std::ptrdiff_t>(a.starts[rows.first]);
  for (std::size_t row = rows.first; row < whole; ++row) {
    const auto end = static_cast<std::ptrdiff_t>(a.starts[row + 1]);
    ahead.entries(k);
    sums_of<T, 8> sums;
    for (; end - k >= 8; k += 8) {
      ahead.elements(k, 8);
      sums.add(a.values + k, a.columns + k, x);
      ahead.entries(k + 8);
    }
    if (k < end) {
      ahead.elements(k, end - k);
      sums.add_first(static_cast<std::size_t>(end - k), a.values + k, a.columns + k, x);
      k = end;
    }
    update.apply(y[row], sums.total());
  }
  even_rows(a, {whole, rows.last}, x, y, update, ahead);
}

template <class T, class Offset>
void run_rows(const vector_rows<T, Offset>& a, index_range rows, const T* x, T* y,
              row_update<T> update, row_method how) {
  const auto run = [&](const auto& ahead) {
    if (how.uneven) {
      uneven_rows(a, rows, x, y, update, ahead);
    } else {
      even_rows(a, rows, x, y, update, ahead);
    }
  };
  const auto behind = static_cast<std::ptrdiff_t>(a.starts[rows.last]);
  run_asking_ahead(entries_ahead<T>{a.values, a.columns}, x, behind, how.distance, run);
}

void doubles_32(const vector_rows<double, std::int32_t>& a, index_range rows, const double* x,
                double* y, row_update<double> update, row_method how) {
  run_rows(a, rows, x, y, update, how);
}
void doubles_64(const vector_rows<double, std::int64_t>& a, index_range rows, const double* x,
                double* y, row_update<double> update, row_method how) {
  run_rows(a, rows, x, y, update, how);
}
void floats_32(const vector_rows<float, std::int32_t>& a, index_range rows, const float* x,
               float* y, row_update<float> update, row_method how) {
  run_rows(a, rows, x, y, update, how);
}
void floats_64(const vector_rows<float, std::int64_t>& a, index_range rows, const float* x,
               float* y, row_update<float> update, row_method how) {
  run_rows(a, rows, x, y, update, how);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace nodewise::inline v0::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nodewise::inline v0::detail {

HWY_EXPORT(doubles_32);
HWY_EXPORT(doubles_64);
HWY_EXPORT(floats_32);
HWY_EXPORT(floats_64);

void vector_row_products(const vector_rows<double, std::int32_t>& a, index_range rows,
                         const double* x, double* y, row_update<double> update,
                         row_method how) noexcept {
  HWY_DYNAMIC_DISPATCH(doubles_32)(a, rows, x, y, update, how);
}
void vector_row_products(const vector_rows<double, std::int64_t>& a, index_range rows,
                         const double* x, double* y, row_update<double> update,
                         row_method how) noexcept {
  HWY_DYNAMIC_DISPATCH(doubles_64)(a, rows, x, y, update, how);
}
void vector_row_products(const vector_rows<float, std::int32_t>& a, index_range rows,
                         const float* x, float* y, row_update<float> update,
                         row_method how) noexcept {
  HWY_DYNAMIC_DISPATCH(floats_32)(a, rows, x, y, update, how);
}
void vector_row_products(const vector_rows<float, std::int64_t>& a, index_range rows,
                         const float* x, float* y, row_update<float> update,
                         row_method how) noexcept {
  HWY_DYNAMIC_DISPATCH(floats_64)(a, rows, x, y, update, how);
}

} // namespace nodewise::inline v0::detail

#endif
