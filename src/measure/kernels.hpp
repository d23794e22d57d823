// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The loops that move memory: one call is one sweep of one thread over its part.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nodewise::measure {

/// What an access fetches, bytes.
inline constexpr std::size_t line_bytes = 64;

/// Whether the `_nt` kernels go past the caches here. Highway has streaming stores on x86 only;
/// elsewhere its `Stream` is an ordinary store, and these kernels would be told apart by their
/// names alone.
#if defined(__x86_64__)
inline constexpr bool has_streaming_stores = true;
#else
inline constexpr bool has_streaming_stores = false;
#endif

/// A thread's part of the arrays a, b, c, d: those a kernel has no use for may be null. Elements
/// are aligned to their 8 bytes at least; parts that share no line are fastest.
struct operands {
  std::array<double*, 4> arrays{};
  std::size_t elements = 0;
  /// For strided_load: from one load to the next; a multiple of 8, not 0.
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
  count, ///< how many there are
};

/// One loop, as a programmer counts it.
struct kernel {
  kernel_id id;
  std::string_view name;
  std::string_view formula;
  unsigned arrays; ///< the first so many of a, b, c, d
  unsigned loads;  ///< streams read, and so on: for each access
  unsigned stores;
  unsigned flops;
  bool streaming;          ///< stores go past the caches
  std::string_view likwid; ///< the word of likwid-bench for the same accesses, or empty

  /// One sweep. The result is the sum for `sum`, bits for verify() to know for the other loads,
  /// else 0.
  double (*run)(const operands&) noexcept;

  /// How many elements one sweep works on: all; with a stride every so many; at random as many as
  /// the part has lines.
  [[nodiscard]] std::size_t accesses(const operands&) const noexcept;
  /// Bytes an access counts for in STREAM and likwid-bench: its operands.
  [[nodiscard]] std::size_t counted_bytes() const noexcept { return 8UL * (loads + stores); }
  /// Bytes an access moves from and to a memory whose caches hold nothing: a store that is not
  /// streaming reads its line first unless the loop has read it, and a load that is alone in its
  /// line brings all of it. Processors that turn a full line of stores into one without the read
  /// (Intel's SpecI2M, Arm's write streaming) move less.
  [[nodiscard]] std::size_t moved_bytes(std::size_t stride_bytes = line_bytes) const noexcept;
};

/// All of them, in the order in which they are shown.
[[nodiscard]] std::span<const kernel> kernels() noexcept;

/// By name, else by likwid-bench's word ("stream", "copy_mem"); nullptr where there is none. A name
/// of ours comes first: "triad" is STREAM's a=b+s*c, which is "stream" to likwid-bench, whose own
/// "triad" is schoenauer here.
[[nodiscard]] const kernel* find_kernel(std::string_view name_or_alias) noexcept;

/// First values of a part: small integers, exact in every sum and product of the kernels, and
/// different from element to element; -1 in what is only written.
void fill(const kernel&, const operands&) noexcept;

/// Compares a part with plain loops, after so many sweeps since fill() of which the last gave
/// `result`. What is wrong ("a[17] is 3, not 5"), or nothing.
[[nodiscard]] std::optional<std::string> verify(const kernel&, const operands&, std::size_t sweeps,
                                                double result);

/// What Highway chose for this processor: "AVX-512", "AVX2", "SVE", ...
[[nodiscard]] std::string_view instruction_set() noexcept;

} // namespace nodewise::measure
