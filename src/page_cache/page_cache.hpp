// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

} // namespace nodewise::page_cache
