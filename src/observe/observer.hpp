// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/machine.hpp>

#include "observe/area.hpp"
#include "observe/locate.hpp"
#include "observe/moved.hpp"
#include "observe/names.hpp"
#include "observe/threads.hpp"
#include "sys/kernel.hpp"
#include "sys/process.hpp"

namespace nodewise::observe {

/// Where the pages of a process were at one moment.
struct page_map {
  int pid = 0;
  std::string command; ///< its command line
  std::size_t page_bytes = 0;
  std::vector<thread_facts> threads;
  std::vector<area> areas; ///< ascending by address
  method how = method::numa_maps;
  int refused_errno = 0;             ///< of move_pages, where only totals are known
  bool knows_huge = false;           ///< which pages are transparent huge pages
  std::size_t counted = 0;           ///< mappings that numa_maps has on one node
  double query_seconds = 0;          ///< time of the page queries
  std::vector<memory_totals> totals; ///< as numastat -p counts them
  /// Base pages that a look found on another node than the look before it, at the same address; all
  /// looks so far together. nullopt if the looks are not compared, or the nodes are unknown.
  std::optional<std::uint64_t> moved;
  std::vector<std::string> notes; ///< sentences about what is unknown
};

/// Observes one process, once or repeatedly.
class observer {
 public:
  /// `on` must outlive it.
  observer(sys::kernel& kernel, const machine& on);

  struct options {
    method best = method::pagemap; ///< methods above it are excluded
    /// Mappings that numa_maps has on one node only are not queried page by page.
    bool by_count = true;
    /// Replaces the current threads: a program that is ending has lost its own.
    const std::vector<thread_facts>* threads = nullptr;
    /// Compares each look with the one before it, which is kept for this.
    bool follows = false;
  };
  /// Throws `error`: (usage) no such process, or a kernel thread; (system) it belongs to another
  /// user, or it ended meanwhile.
  [[nodiscard]] page_map look(sys::process& of, const options& how);
  /// Reads only its threads; compares with the previous call to find the threads that have run.
  [[nodiscard]] std::vector<thread_facts> look_at_threads(sys::process& of);

 private:
  void locate_all(sys::process& of, const options& how, std::vector<located_mapping>& mappings,
                  const std::map<std::uint64_t, const numa_line*>& lines, page_map& into);

  const machine& machine_;
  locator::system system_;
  module_cache modules_;
  std::map<int, std::uint64_t> ticks_; ///< of each thread at the previous call
  std::vector<placed_run> placed_;     ///< at the previous look whose nodes were known
  std::uint64_t moved_ = 0;            ///< pages, since the first look
};

} // namespace nodewise::observe
