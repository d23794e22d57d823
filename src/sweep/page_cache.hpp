// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::sweep {

/// Whether `drop_everything` would be permitted.
[[nodiscard]] bool may_drop_everything() noexcept;

/// Writes what is dirty, and has the kernel give up the pages of all files on all nodes: it knows
/// no way for one node. Returns 0 or errno; only root is permitted.
[[nodiscard]] int drop_everything();

/// The same for one file: its dirty pages are written first. Pages that somebody has mapped stay.
/// Returns 0 or errno.
[[nodiscard]] int drop_file(const std::string& path);

/// If the kernel must end a process for want of memory, it is to be this one.
void be_first_to_be_ended() noexcept;

} // namespace nodewise::sweep
