// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Empties the page cache: of all nodes as root, of single files, or of a node without privileges,
// by allocating memory on the node until the kernel has evicted its page cache.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sys/kernel.hpp"

namespace nodewise::page_cache {

/// Whether `drop_everything` would be permitted.
[[nodiscard]] bool may_drop_everything() noexcept;

/// Writes dirty pages, then drops the page cache of all files on all nodes: the kernel cannot drop
/// it on a single node. Returns 0 or errno; only root is permitted.
[[nodiscard]] int drop_everything();

/// The result for a file's pages.
struct dropped {
  int errno_value = 0; ///< why nothing was done; 0 on success
  /// Bytes still in memory, in whole pages: pages that a program has mapped or writes, or the whole
  /// file if its file system is in memory. nullopt if the kernel does not report it: it does so
  /// only to a user that owns the file or may write it.
  std::optional<std::uint64_t> stayed_bytes;
};

/// The same for one file: writes its dirty pages first. Refuses directories (EISDIR) and files
/// without pages (ENODEV).
[[nodiscard]] dropped drop_file(const std::string& path);

/// Makes this process the first that the kernel kills if it runs out of memory.
void be_first_to_be_ended() noexcept;

/// The system calls that `press` needs; a test replaces them.
struct surroundings {
  std::function<std::optional<sys::node_memory>()> look;
  /// Free swap space, in bytes; nullopt if unknown.
  std::function<std::optional<std::uint64_t>()> free_swap;
  /// What this process may still allocate, in bytes; nullopt without a limit.
  std::function<std::optional<std::uint64_t>()> room;
  /// Allocates and touches `bytes` more on the node: 0 or errno.
  std::function<int(std::uint64_t bytes)> take;
  /// `done` of `total` bytes: an estimate.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// Why `press` ended.
enum class ending {
  swept,   ///< almost no page cache is left
  swaps,   ///< the kernel began to swap instead
  stuck,   ///< the rest cannot be evicted: dirty or mapped
  limited, ///< this process may not allocate more
  refused, ///< the kernel refused more memory: `errno_value`
  unknown, ///< the kernel does not report what the node holds
};

struct pressure {
  ending why = ending::unknown;
  int errno_value = 0;
  std::uint64_t taken_bytes = 0;
};

/// Allocates memory, a 256th of the node at a time, and checks after each piece, until one of
/// `ending` holds: before the kernel has to swap or kill a process.
[[nodiscard]] pressure press(const surroundings& on);

} // namespace nodewise::page_cache
