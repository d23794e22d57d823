// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Copies of scattered elements, by the gather instructions of AVX-512. Those of AVX2 are left out:
// they are no faster than single loads, and QEMU up to 9.0 reads wrong elements with some of them
// (https://gitlab.com/qemu-project/qemu/-/issues/2474).
#define HWY_DISABLED_TARGETS (HWY_AVX2)

#include <nodewise/detail/sparse/read_distance.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/gathers.cpp"
#include <hwy/foreach_target.h>

#include "sparse/gather.hpp"

// Everything up to the end of this namespace is compiled once for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace nodewise::inline v0::detail {
namespace HWY_NAMESPACE {
namespace {

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
