// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Vectors of elements at 32-bit indices. Included once for each instruction set: no #pragma once.
#if defined(NODEWISE_SPARSE_GATHER_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef NODEWISE_SPARSE_GATHER_HPP
#undef NODEWISE_SPARSE_GATHER_HPP
#else
#define NODEWISE_SPARSE_GATHER_HPP
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

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

} // namespace
} // namespace HWY_NAMESPACE
} // namespace nodewise::inline v0::detail
HWY_AFTER_NAMESPACE();

#endif
