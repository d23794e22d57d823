// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nodewise::sweep {

/// Whether `drop_everything` would be permitted.
[[nodiscard]] bool may_drop_everything() noexcept;

/// Writes what is dirty, and has the kernel give up the pages of all files on all nodes: it knows
/// no way for one node. Returns 0 or errno; only root is permitted.
[[nodiscard]] int drop_everything();

/// What became of a file's pages.
struct dropped {
  int errno_value = 0; ///< why nothing was done; 0 if the kernel was asked
  /// What is in memory still, in whole pages: pages that a program has mapped or writes, or all of
  /// a file in a file system that is memory. Nothing if the kernel does not tell, as to who neither
  /// owns the file nor may write it.
  std::optional<std::uint64_t> stayed_bytes;
};

/// The same for one file: its dirty pages are written first. Directories (EISDIR) and what has no
/// pages (ENODEV) are refused.
[[nodiscard]] dropped drop_file(const std::string& path);

/// If the kernel must end a process for want of memory, it is to be this one.
void be_first_to_be_ended() noexcept;

} // namespace nodewise::sweep
