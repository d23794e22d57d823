// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Parses the files of /proc/PID. What cannot be parsed is omitted, never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id.hpp>

#include "sys/process.hpp"

namespace nodewise::observe {

/// A line of /proc/PID/maps.
struct mapping {
  sys::address_range where;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  std::uint64_t file_offset = 0;
  std::string device; ///< "fe:00"
  std::uint64_t inode = 0;
  std::string path;     ///< also "[heap]"; empty for anonymous memory; without " (deleted)"
  bool deleted = false; ///< the file has been deleted
};
[[nodiscard]] std::vector<mapping> parse_maps(std::string_view text);

/// A line of /proc/PID/numa_maps. Page counts are in units of `page_bytes`.
struct numa_line {
  std::uint64_t start = 0;
  std::string policy;           ///< as the kernel writes it: "interleave:0-3"
  std::uint64_t page_bytes = 0; ///< 0 if the kernel does not report it
  bool heap = false;
  bool stack = false;
  bool huge = false;                  ///< hugetlb
  std::map<int, std::uint64_t> pages; ///< by node
};
[[nodiscard]] std::vector<numa_line> parse_numa_maps(std::string_view text);

/// Bytes by node in one of numastat's categories.
struct memory_totals {
  std::string_view category;
  std::map<int, std::uint64_t> bytes;
};

/// Huge, Heap, Stack, Private: what `numastat -p` prints. Private is all the rest, shared memory
/// and files included.
[[nodiscard]] std::vector<memory_totals> totals_of(std::span<const numa_line> lines,
                                                   std::size_t page_bytes);

/// Bytes in transparent huge pages by /proc/PID/smaps, by the start of the mapping.
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> parse_smaps_huge_bytes(std::string_view text);

/// The needed fields of /proc/PID/task/TID/stat.
struct task_stat {
  std::string name;
  char state = '?'; ///< as in /proc: R running, S sleeping, ...
  unsigned flags = 0;
  std::uint64_t cpu_ticks = 0; ///< user and system
  cpu_id last_cpu{-1};         ///< where it ran last
};
[[nodiscard]] std::optional<task_stat> parse_task_stat(std::string_view text);
/// The same from a file of the process: "stat", "task/4711/stat". nullopt if it has ended.
[[nodiscard]] std::optional<task_stat> read_task_stat(sys::process& of, const std::string& file);

/// The soft stack limit in /proc/PID/limits, which is the C library's default stack size of a
/// thread; the C library's own default if there is no limit.
[[nodiscard]] std::uint64_t parse_stack_bytes(std::string_view limits);

/// The value after a label ("Name:") in a text such as /proc/PID/status, without blanks around it;
/// empty if there is none.
[[nodiscard]] std::string_view field_of(std::string_view text, std::string_view label);

/// First and one past the last frame of a node's zone in /proc/zoneinfo. Zones of several nodes may
/// overlap.
struct zone_span {
  node_id node = unknown_node;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
[[nodiscard]] std::vector<zone_span> parse_zoneinfo(std::string_view text);

} // namespace nodewise::observe
