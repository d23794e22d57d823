// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include <unistd.h>

namespace nodewise::agent {

/// The system's page.
[[nodiscard]] inline std::size_t page_bytes() noexcept {
  static constinit std::atomic<std::size_t> known{0};
  std::size_t bytes = known.load(std::memory_order_relaxed);
  if (bytes == 0) {
    bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    known.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

} // namespace nodewise::agent
