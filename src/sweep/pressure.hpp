// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Emptying a node's page cache without privileges: memory is asked of the node until the kernel has
// given up its pages of files for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sys/node_memory.hpp"

namespace nodewise::sweep {

/// What pressing on a node needs of the system; a test replaces it.
struct surroundings {
  std::function<std::optional<sys::node_memory>()> look;
  /// Swap space that is free, in bytes; nothing if nobody knows.
  std::function<std::optional<std::uint64_t>()> free_swap;
  /// What this process may still take, in bytes; nothing without a limit.
  std::function<std::optional<std::uint64_t>()> room;
  /// So many bytes more on the node, in memory: 0 or errno.
  std::function<int(std::uint64_t bytes)> take;
  /// `done` of `total` bytes: an estimate.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// Why it ended.
enum class ending {
  swept,   ///< next to nothing is left
  swaps,   ///< the kernel began to swap instead
  stuck,   ///< the rest does not go: dirty or mapped
  limited, ///< this process may not take more
  refused, ///< the kernel gave no more memory: `errno_value`
  unknown, ///< the kernel does not tell what the node holds
};

struct pressure {
  ending why = ending::unknown;
  int errno_value = 0;
  std::uint64_t taken_bytes = 0;
};

/// Asks for memory, a 256th of the node at a time, and looks after each, until one of `ending`
/// holds: before the kernel has to swap or to end somebody.
[[nodiscard]] pressure press(const surroundings& on);

} // namespace nodewise::sweep
