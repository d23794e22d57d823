// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <nodewise/id.hpp>

#include "sys/kernel.hpp"

namespace nodewise::sys {

/// A node's memory as the kernel counts it now.
struct node_memory {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t cache_bytes = 0; ///< pages of files, including memory file systems
  /// Of these, pages that the kernel can drop when it needs memory, dirty ones after writing them;
  /// nullopt if it does not report this.
  std::optional<std::uint64_t> evictable_bytes;
};

/// Swap space in bytes, by /proc/meminfo; nullopt if that cannot be read.
[[nodiscard]] std::optional<std::uint64_t> read_total_swap(kernel& from);
/// Free swap space in bytes, likewise.
[[nodiscard]] std::optional<std::uint64_t> read_free_swap(kernel& from);

/// Memory of all nodes that is available without swapping, in bytes, as the kernel estimates it
/// (MemAvailable of /proc/meminfo); nullopt if that cannot be read.
[[nodiscard]] std::optional<std::uint64_t> read_available_memory(kernel& from);

/// By /sys/devices/system/node/nodeN/meminfo; nullopt if that cannot be read or lacks a value.
[[nodiscard]] std::optional<node_memory> read_node_memory(kernel& from, node_id node);

} // namespace nodewise::sys
