// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Minimum and maximum sizes of buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::measure {

inline constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// The memory that may be allocated, as far as it is known.
struct memory_to_have {
  /// By position in `machine().nodes`: free memory plus the page cache that can be evicted.
  std::vector<std::optional<std::uint64_t>> by_node = {};
  std::optional<std::uint64_t> together = {}; ///< room in the control group, over all nodes

  /// For the node at this position; all of its memory if the free memory is unknown.
  [[nodiscard]] std::uint64_t of(const memory_node& node, std::size_t position) const;
};

/// Four times the last-level caches of the whole machine, and at least 64 MiB: smaller buffers may
/// measure the caches.
[[nodiscard]] std::uint64_t enough_bytes(const topology& on);

/// The same for these processors: counts only the caches that they reach.
[[nodiscard]] std::uint64_t enough_bytes(const topology& on, const cpu_set& cpus);

/// The same for a chain that one core follows: at least 256 MiB, beyond the reach of second-level
/// translation buffers, but never more than for the whole machine.
[[nodiscard]] std::uint64_t enough_for_a_chain(const topology& on, cpu_id cpu);

/// A quarter of what the smallest allowed memory can give: room for a point's two buffers and more.
[[nodiscard]] std::uint64_t most_bytes(const topology& on, const memory_to_have& memory);

} // namespace nodewise::measure
