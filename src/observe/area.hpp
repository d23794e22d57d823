// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The memory of a process in a user's terms: arrays, heap, stacks, files. An area may be a part of
// one of the kernel's mappings (a static array) or made of several (an array placed in blocks).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>

#include "observe/locate.hpp"
#include "observe/proc_text.hpp"

namespace nodewise::observe {

enum class area_kind {
  array,       ///< a large object that the agent named
  static_data, ///< a static array, or what is left of .data and .bss
  heap,
  stack,
  anonymous,
  shared_memory, ///< /dev/shm, System V, memfd, shared anonymous
  file,
  code,       ///< program and libraries
  huge_pages, ///< hugetlb
  system,     ///< vdso and the like
};
[[nodiscard]] std::string_view to_string(area_kind kind) noexcept;

struct area {
  sys::address_range where;
  area_kind kind = area_kind::anonymous;
  std::string name;             ///< "solver.c:41", a symbol, a path; empty for nameless memory
  std::string mapped;           ///< the file behind it, or empty
  std::uint64_t page_bytes = 0; ///< of its mapping; ignores transparent huge pages
  /// Policies in force: (pages of the area from its start, policy), as the kernel writes them.
  std::vector<std::pair<std::uint64_t, std::string>> policies;
  std::optional<std::uint64_t> huge_bytes; ///< in transparent huge pages, if known
  std::vector<page_run> runs;              ///< base pages, ascending; cover the area

  struct share {
    node_id node = unknown_node;
    std::uint64_t pages = 0;
  };
  // Base pages.
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;  ///< in memory; without the zero page
  std::uint64_t unknown = 0;   ///< in memory, on an unknown node
  std::uint64_t zeros = 0;     ///< the zero page
  std::vector<share> per_node; ///< ascending by node

  /// Share of the located pages on these nodes, 0..1; nullopt if no page is located.
  [[nodiscard]] std::optional<double> share_on(const node_set& nodes) const;
};

/// A mapping with its pages.
struct located_mapping {
  mapping what;
  area_kind kind = area_kind::anonymous;
  std::string name;
  std::string policy;
  std::uint64_t page_bytes = 0;
  std::optional<std::uint64_t> huge_bytes;
  std::vector<page_run> runs;
  /// Totals by node (numa_maps), if runs do not give the node. Base pages.
  std::vector<area::share> totals;
};

/// A range with a name. Its edges need not be page boundaries.
struct named_range {
  sys::address_range where;
  area_kind kind = area_kind::array;
  std::string name;
};

/// Cuts mappings (ascending) along the named ranges; of overlapping ranges the earlier in the list
/// counts. A page belongs to the area that most of it belongs to.
[[nodiscard]] std::vector<area> areas_of(std::span<const located_mapping> mappings,
                                         std::vector<named_range> names, std::size_t page_bytes);

} // namespace nodewise::observe
