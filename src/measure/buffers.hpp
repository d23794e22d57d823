// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How large buffers must be, and may be.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::measure {

/// What may be taken, as far as is known.
struct memory_to_have {
  /// By position in `machine().nodes`: what is free there, and what files would give up.
  std::vector<std::optional<std::uint64_t>> by_node = {};
  std::optional<std::uint64_t> together = {}; ///< what the control group leaves, of all nodes

  /// Of the node at this position; all that it has where nobody knows what is free.
  [[nodiscard]] std::uint64_t of(const memory_node& node, std::size_t position) const;
};

/// Four times the last-level caches of the whole machine, and 64 MiB at least: in less, a figure
/// may be of the caches.
[[nodiscard]] std::uint64_t enough_bytes(const topology& on);

/// The same for these processors, which fill only caches that they reach.
[[nodiscard]] std::uint64_t enough_bytes(const topology& on, const cpu_set& cpus);

/// The same for a chain that one core follows: 256 MiB at least, beyond what second-level
/// translation buffers reach, but never more than for all.
[[nodiscard]] std::uint64_t enough_for_a_chain(const topology& on, cpu_id cpu);

/// A quarter of what the smallest allowed memory has to give: two buffers of a point, and room.
[[nodiscard]] std::uint64_t most_bytes(const topology& on, const memory_to_have& memory);

} // namespace nodewise::measure
