// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Another process as the layers above see it: what the kernel reports of its memory. As in
// kernel.hpp, every call returns 0 (or a value) or an errno, and tests replace it by a fake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nodewise/id_set.hpp>

#include "sys/kernel.hpp"

namespace nodewise::sys {

/// Addresses in another process; half-open.
struct address_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const address_range&, const address_range&) = default;
};

/// What PAGEMAP_SCAN (Linux 6.7) can look for.
enum class page_property { present, huge };

/// Bits of /proc/kpageflags.
inline constexpr std::uint64_t frame_is_huge = std::uint64_t{1} << 17 | std::uint64_t{1} << 22;
inline constexpr std::uint64_t frame_is_zeros = std::uint64_t{1} << 24;

/// Queries may come from several threads at once.
class process {
 public:
  virtual ~process() = default;

  [[nodiscard]] virtual int pid() const = 0;
  /// The node of each page, or -errno for each (-ENOENT: not in memory; -EFAULT: the zero page, or
  /// not mapped). Changes nothing.
  virtual int query_pages(std::span<const std::uint64_t> addresses, std::span<int> status) = 0;
  /// Entries of /proc/PID/pagemap from a page (address / base page size) on; returns how many.
  [[nodiscard]] virtual answer<std::size_t> read_pagemap(std::uint64_t first_page,
                                                         std::span<std::uint64_t> entries) = 0;
  /// The parts of a range whose pages have a property, ascending. ENOTTY before Linux 6.7.
  [[nodiscard]] virtual answer<std::vector<address_range>> scan(page_property what,
                                                                address_range where) = 0;
  /// Flags of page frames (/proc/kpageflags, root only); returns how many.
  [[nodiscard]] virtual answer<std::size_t> read_frame_flags(std::uint64_t first_frame,
                                                             std::span<std::uint64_t> flags) = 0;
  /// Reads all of it or returns EFAULT; needs the right to trace the process.
  virtual int read_memory(std::uint64_t address, std::span<std::byte> into) = 0;
  /// Moves pages between nodes as migratepages does; returns how many stayed.
  [[nodiscard]] virtual answer<long> migrate(const node_set& from, const node_set& to) = 0;
  /// A file of /proc/PID: "maps", "task/4711/stat".
  [[nodiscard]] virtual answer<std::string> read_file(const std::string& name) = 0;
  /// The numbers of its threads, ascending.
  [[nodiscard]] virtual answer<std::vector<int>> threads() = 0;
  /// The user that it belongs to.
  [[nodiscard]] virtual answer<unsigned> user() = 0;
};

[[nodiscard]] std::unique_ptr<process> real_process(int pid);

} // namespace nodewise::sys
