// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The loops that move memory: one call is one sweep of one thread over its part.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/operands.hpp"

namespace nodewise::measure {

/// Whether the `_nt` kernels bypass the caches here. Highway has streaming stores on x86 only;
/// elsewhere its `Stream` is an ordinary store, and these kernels would differ from the others in
/// their names alone.
#if defined(__x86_64__)
inline constexpr bool has_streaming_stores = true;
#else
inline constexpr bool has_streaming_stores = false;
#endif

/// One loop, as a programmer counts it.
struct kernel {
  kernel_id id;
  std::string_view name;
  std::string_view formula;
  unsigned arrays; ///< how many of a, b, c, d it uses, from a on
  unsigned loads;  ///< streams read by each access; stores likewise
  unsigned stores;
  bool streaming;          ///< stores bypass the caches
  std::string_view likwid; ///< the word of likwid-bench for the same accesses, or empty

  /// One sweep. Returns the sum for `sum`, bits that verify() checks for the other loads, else 0.
  double (*run)(const operands&) noexcept;

  /// How many elements one sweep accesses: all of them; with a stride, one in each stride; at
  /// random, as many as the part has lines.
  [[nodiscard]] std::size_t accesses(const operands&) const noexcept;
  /// Bytes that STREAM and likwid-bench count for an access: its operands.
  [[nodiscard]] std::size_t counted_bytes() const noexcept { return 8UL * (loads + stores); }
  /// Bytes that an access moves from and to memory with empty caches: a store that is not streaming
  /// reads its line first unless the loop has read it, and a load that is alone in its line fetches
  /// the whole line. Processors that write full lines without reading them first (Intel's SpecI2M,
  /// Arm's write streaming) move less.
  [[nodiscard]] std::size_t moved_bytes(std::size_t stride_bytes = line_bytes) const noexcept;
};

/// All of them, in the order in which they are shown.
[[nodiscard]] std::span<const kernel> kernels() noexcept;

/// Finds a kernel by name, else by likwid-bench's word ("stream", "copy_mem"); nullptr if there is
/// none. Our names win: "triad" is STREAM's a=b+s*c, which likwid-bench calls "stream";
/// likwid-bench's own "triad" is schoenauer here.
[[nodiscard]] const kernel* find_kernel(std::string_view name_or_alias) noexcept;

/// Writes the first values of a part: small integers, exact in every sum and product of the
/// kernels, and different from element to element; -1 in arrays that are only written.
void fill(const kernel&, const operands&) noexcept;

/// Compares a part with plain loops, after `sweeps` sweeps since fill(), of which the last returned
/// `result`. Returns what is wrong ("a[17] is 3, not 5"), or nullopt.
[[nodiscard]] std::optional<std::string> verify(const kernel&, const operands&, std::size_t sweeps,
                                                double result);

/// What Highway chose for this processor: "AVX-512", "AVX2", "SVE", ...
[[nodiscard]] std::string_view instruction_set() noexcept;

} // namespace nodewise::measure
