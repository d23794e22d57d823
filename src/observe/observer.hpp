// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nodewise/machine.hpp>

#include "observe/area.hpp"
#include "observe/locate.hpp"
#include "observe/names.hpp"
#include "observe/threads.hpp"
#include "observe/totals.hpp"
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
  std::size_t counted = 0;           ///< mappings that numa_maps had found on one node
  double query_seconds = 0;          ///< that asking for the pages took
  std::vector<memory_totals> totals; ///< as numastat -p counts them
  std::vector<std::string> notes;    ///< sentences about what could not be told
};

/// Looks at one process, once or again and again.
class observer {
 public:
  /// All of these outlive it.
  observer(sys::kernel& kernel, const machine& on);

  struct options {
    method best = method::pagemap; ///< ways above it are left out
    /// What numa_maps has found on one node is not asked page by page.
    bool by_count = true;
    bool names = true; ///< symbols, arrays of the agent, stacks of threads
    /// In the place of what the process has now: a program that is ending has lost its threads.
    const std::vector<thread_facts>* threads = nullptr;
  };
  /// Throws `error`: (usage) no such process, or a kernel thread; (system) somebody else's, or it
  /// ended meanwhile.
  [[nodiscard]] page_map look(sys::process& of, const options& how);
  /// Only its threads; compares with the look before to tell who has run.
  [[nodiscard]] std::vector<thread_facts> look_at_threads(sys::process& of);

 private:
  void locate_all(sys::process& of, const options& how, std::vector<located_mapping>& mappings,
                  const std::map<std::uint64_t, const numa_line*>& lines, page_map& into);
  void read_agent(sys::process& of, name_finder& names, std::vector<named_range>& ranges,
                  page_map& into);

  sys::kernel& kernel_;
  const machine& machine_;
  locator::system system_;
  module_cache modules_;
  std::map<int, std::uint64_t> ticks_; ///< of each thread at the look before
};

} // namespace nodewise::observe
