// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// Settings outside the program that affect results; part of every result. nullopt: could not be
/// read.
struct settings {
  std::optional<std::string> kernel_release; ///< "6.1.0-18-amd64"
  std::optional<std::size_t> page_bytes;     ///< base page
  std::optional<int> numa_balancing;         ///< 0 off, 1 on, 2 memory tiering, 3 both
  std::optional<std::string> thp;            ///< transparent huge pages: "always"
  std::optional<std::string> thp_defrag;     ///< "madvise"
  std::optional<std::uint64_t> swap_bytes;   ///< the total, used or not
  /// "none", or the maker of the virtual machine as its firmware names it.
  std::optional<std::string> virtualisation;

  /// Whether the kernel unmaps pages to sample their users, and migrates the pages to them.
  [[nodiscard]] bool balances() const noexcept {
    return numa_balancing && (*numa_balancing & 1) != 0;
  }
};

[[nodiscard]] settings read_settings(sys::kernel& from);

/// The whole number that is a file's only content; nullopt if there is no such file, if its content
/// is something else, and for a number outside least..most: impossible values are not reported.
[[nodiscard]] std::optional<long long> read_number(sys::kernel& from, const std::string& path,
                                                   long long least = LLONG_MIN,
                                                   long long most = LLONG_MAX);

} // namespace nodewise::doctor
