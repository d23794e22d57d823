// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/settings.hpp"

namespace nodewise::agent {

/// When, by which thread and on which stack an object was allocated. All 0 outside trace mode.
struct allocation {
  std::uint64_t ns;    ///< CLOCK_MONOTONIC
  int tid;             ///< of the allocating thread
  std::uint32_t stack; ///< number of the stack's record, or 0
};

/// Pages that are bound to their present node, while the kernel samples which threads use them.
struct numa_pinned_part {
  std::size_t pages; ///< bound pages of the object, in all
  std::size_t front; ///< bound pages from the start up to the first gap
  unsigned extents;  ///< policies in force for the front
  int last_node;     ///< of the last page of the front
};

/// A range of memory that is placed, or only observed, as a unit. `start` is page-aligned.
struct object {
  char* start;
  char* block;              ///< the next allocator's block around it; nullptr: a mapping of its own
  std::size_t bytes;        ///< as requested by the program
  std::size_t placed_bytes; ///< the length that the owners were computed for
  std::size_t mapped_bytes; ///< a multiple of the page
  std::size_t front_bytes;  ///< of the same mapping, before `start`: see front.hpp
  std::size_t cut_bytes;    ///< before `start`, unmapped since; `placed_bytes` includes them
  std::size_t granule_bytes; ///< edges of blocks are multiples of this
  std::uint64_t sequence;    ///< 0, 1, ... in the order of creation
  std::uint64_t blocks;      ///< of a group, else 1
  const void* caller;
  const placement* where; ///< nullptr: no placement was asked for
  const char* name;       ///< a static array's symbol, the last part of a file's path; else nullptr
  const std::uint32_t* first_block; ///< of a group: for each page, the first block from there on
  std::uint32_t first_number;       ///< of a group: its own first block
  std::uint32_t kind;               ///< NODEWISE_AGENT_HEAP, ...
  int rule;                         ///< position among the rules, -1: the default
  int pid;                          ///< copies in a forked child belong to the parent's report
  int refused_errno;
  unsigned flags;           ///< NODEWISE_AGENT_PLACED, ...
  unsigned extents;         ///< policies in force
  std::size_t coarse_slots; ///< of a map: parts of fewer owners are joined; 0: no parts are
  allocation made_by;
  numa_pinned_part numa_pinned;
  bool hides_pages;  ///< of a file: mincore does not say which pages are cached
  bool gives_back;   ///< the program gave pages of it back to the kernel: not bound again
  rule_set above;    ///< rules whose `above` fits the allocation's stack
  rule_set numbered; ///< rules that have given it a number
  rule_set within;   ///< of these, the rules whose `nth` has that number

  /// Whether it is placed, and not only observed.
  [[nodiscard]] bool is_to_be_placed() const noexcept {
    return where != nullptr && (flags & NODEWISE_AGENT_UNASKED) == 0;
  }
};

// What happens to objects, for the report and the trace (agent/report/objects_report.cpp):

/// Gives a new object its number, and its allocation if that is not known yet. Counts whether it
/// was placed.
void count_made(object& what) noexcept;
/// The object has moved or changed its size.
void tell_moved(const object& what) noexcept;
/// Call it before the memory of a freed object goes away.
void report_freed(const object& what) noexcept;

} // namespace nodewise::agent
