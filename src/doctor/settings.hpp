// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// What changes results from outside the program; part of every result. nullopt: could not be read.
struct settings {
  std::optional<std::string> kernel_release; ///< "6.1.0-18-amd64"
  std::optional<std::size_t> page_bytes;     ///< base page
  std::optional<int> numa_balancing;         ///< 0 off, 1 on, 2 memory tiering, 3 both
  std::optional<std::string> thp;            ///< transparent huge pages: "always"
  std::optional<std::string> thp_defrag;     ///< "madvise"
  std::optional<std::uint64_t> swap_bytes;   ///< all there is, used or not
  /// "none", or the maker of the virtual machine as its firmware names it.
  std::optional<std::string> virtualisation;

  /// Whether the kernel unmaps pages to see who uses them, and moves them there.
  [[nodiscard]] bool balances() const noexcept {
    return numa_balancing && (*numa_balancing & 1) != 0;
  }
};

[[nodiscard]] settings read_settings(sys::kernel& from);

/// A whole number that is all there is in a file; nullopt if it is not there or says something
/// else.
[[nodiscard]] std::optional<long long> read_number(sys::kernel& from, const std::string& path);
/// The same, if it is one of least..most: what a setting cannot be is not told as one.
[[nodiscard]] std::optional<long long> read_number(sys::kernel& from, const std::string& path,
                                                   long long least, long long most);

} // namespace nodewise::doctor
