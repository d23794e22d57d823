// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The names of the kernels, and what they work on.
#pragma once

#include <array>
#include <cstddef>

namespace nodewise::measure {

/// Bytes that an access fetches.
inline constexpr std::size_t line_bytes = 64;

/// A thread's part of the arrays a, b, c, d: arrays that a kernel does not use may be null.
/// Elements are aligned to at least their 8 bytes; parts that share no line are fastest.
struct operands {
  std::array<double*, 4> arrays{};
  std::size_t elements = 0;
  /// For strided_load: the distance from one load to the next; a multiple of 8, not 0.
  std::size_t stride_bytes = line_bytes;
};

enum class kernel_id : unsigned {
  load,
  sum,
  store,
  copy,
  update,
  scale,
  add,
  triad,
  schoenauer,
  store_nt,
  copy_nt,
  scale_nt,
  add_nt,
  triad_nt,
  schoenauer_nt,
  strided_load,
  random_load,
  count, ///< the number of kernels
};

} // namespace nodewise::measure
