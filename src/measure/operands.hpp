// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The names of the kernels, what they work on, and their loops, compiled for every instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

/// What `store` writes. Not 0: processors may drop stores of zeros over zeros.
inline constexpr double stored_value = 7;
/// s of scale and triad, as in STREAM.
inline constexpr double factor = 3;
/// s of update: sweeps cannot overflow, and the values show whether their number is even or odd.
inline constexpr double update_factor = -1;

/// One sweep; see `kernel::run`.
double run_kernel(kernel_id, const operands&) noexcept;

/// Highway's bit of the instruction set in use.
std::int64_t chosen_target() noexcept;

} // namespace nodewise::measure
