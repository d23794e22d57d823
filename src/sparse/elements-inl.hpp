// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Elements of a vector at any places; compiled once for each instruction set.
//
// They are loaded one by one. Gathers of AVX-512 take twice the time if the elements are in the
// first cache, and with a mask five times; those of AVX2 are no faster, and QEMU up to 9.0 reads
// wrong elements with some of them (https://gitlab.com/qemu-project/qemu/-/issues/2474).

// Included again for each instruction set, but once in each.
#if defined(NODEWISE_SPARSE_ELEMENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef NODEWISE_SPARSE_ELEMENTS
#undef NODEWISE_SPARSE_ELEMENTS
#else
#define NODEWISE_SPARSE_ELEMENTS
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nodewise::inline v0::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> elements(D d, const T* x, const std::int32_t* at) {
  return hn::Set(d, x[*at]);
}

#else

/// The elements of x at as many columns as a vector has lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> elements(D d, const T* x, const std::int32_t* at) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
    const hn::Half<D> half;
    return hn::Combine(d, elements(half, x, at + hn::MaxLanes(half)), elements(half, x, at));
  } else {
    auto made = hn::Zero(d);
    for (std::size_t i = 0; i < hn::MaxLanes(D()); ++i) {
      made.raw[i] = x[at[i]]; // compilers load into the vector
    }
    return made;
  }
}

#endif

} // namespace
} // namespace HWY_NAMESPACE
} // namespace nodewise::inline v0::detail
HWY_AFTER_NAMESPACE();

#endif
