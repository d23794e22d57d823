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
  std::uint64_t cache_bytes = 0; ///< pages of files, those of memory file systems, too
  /// Of these, pages that the kernel can give up when it needs memory, once written if they are
  /// dirty; nothing if it does not tell.
  std::optional<std::uint64_t> evictable_bytes;
};

/// Swap space that is free, in bytes, by /proc/meminfo; nothing if that cannot be read.
[[nodiscard]] std::optional<std::uint64_t> read_free_swap(kernel& from);

/// Memory of all nodes that can be had without swapping, in bytes, as the kernel estimates it
/// (MemAvailable of /proc/meminfo); nothing if that cannot be read.
[[nodiscard]] std::optional<std::uint64_t> read_available_memory(kernel& from);

/// By /sys/devices/system/node/nodeN/meminfo; nothing if that cannot be read, or says less.
[[nodiscard]] std::optional<node_memory> read_node_memory(kernel& from, node_id node);

} // namespace nodewise::sys
