// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/protocol.h"
#include "placement/kind.hpp"

namespace nodewise::agent {

/// Consecutive owners on one node.
struct owner_run {
  std::size_t first_slot; ///< number of owners before this run
  int node;
};

/// Owners in order, as a part of the settings' runs.
struct owner_list {
  const owner_run* run;
  std::size_t runs;
  std::size_t slots;    ///< owners in all; 0 if the owners of pages are unknown
  std::size_t shortest; ///< owners of the shortest run
};

using placement_kind = placements::kind;

struct placement {
  placement_kind kind;
  std::size_t granule_bytes; ///< of cyclic; 0: by the size of the object. Of blocked: a row, or 0
  owner_list owners;         ///< for bind, prefer and interleave: the nodes, once each
};

/// An address in the program's code, by module. `module` is the file's last part, %-encoded, and
/// ends at a '+'.
struct code_range {
  const char* module;
  std::size_t first; ///< from the start of the module's first mapping; half-open
  std::size_t last;
};

struct rule {
  unsigned kinds; ///< bit 1 << NODEWISE_AGENT_HEAP, ...
  std::size_t least_bytes;
  std::size_t most_bytes;
  const char* symbol; ///< %-encoded, ends at a ',' or ':'; nullptr for any
  const char* file;   ///< the same, with * and ?
  std::size_t first_code;
  std::size_t codes; ///< 0 for any caller
  std::size_t first_above;
  std::size_t aboves; ///< 0 for any stack
  bool counts;        ///< only the objects numbered first_nth..last_nth of those that fit
  std::uint64_t first_nth;
  std::uint64_t last_nth;
  placement where;
};

/// Some of the rules, by their positions.
class rule_set {
 public:
  [[nodiscard]] bool has(std::size_t position) const noexcept {
    return (words_[position / bits] >> position % bits & 1) != 0;
  }
  void insert(std::size_t position) noexcept {
    words_[position / bits] |= std::uint64_t{1} << position % bits;
  }

 private:
  static constexpr std::size_t bits = 64;
  std::uint64_t words_[NODEWISE_AGENT_MAX_RULES / bits];
};

/// What the launcher asked for. A plain value in static storage: nothing here allocates.
struct settings {
  std::size_t threshold_bytes;
  std::size_t group_bytes;     ///< blocks of at least this size may make a group; 0: none do
  std::size_t huge_page_bytes; ///< objects of at least this size are in huge pages; 0: none is
  owner_list owners;
  placement standard; ///< of large objects that no rule fits
  const char* pin;    ///< places of the program's threads, separated by '|'; nullptr: left alone
  bool main_works;    ///< the first of them is the main thread's
  bool reads_files;   ///< of files that are placed, read what is not cached
  bool observe;       ///< place nothing; count pages by the owners that will use them
  bool trace;         ///< record allocations, stacks and system calls that write
  bool numa_pin;      ///< with trace: pages stay on their nodes while the kernel samples their use
  bool quiet;
  bool announce;      ///< to the traffic counter of a virtual machine
  const char* report; ///< a path, or nullptr for no report
  std::size_t rule_count;
  std::size_t code_count;
  std::size_t above_count;
  std::size_t run_count;
  // Large, and never cleared: only entries in use have a meaning. All members above are cleared.
  rule rules[NODEWISE_AGENT_MAX_RULES];
  code_range code[NODEWISE_AGENT_MAX_CODE];
  code_range above[NODEWISE_AGENT_MAX_CODE];
  owner_run run[NODEWISE_AGENT_MAX_RUNS];
};

/// Whether the settings need the callers further up the stack.
[[nodiscard]] inline bool needs_stacks(const settings& asked) noexcept {
  return asked.trace || asked.above_count != 0;
}

/// Reads the text of NODEWISE_AGENT, which must outlive `into`. Returns nullptr, or a description
/// of the error; then `into` requests nothing.
[[nodiscard]] const char* parse(const char* text, settings& into) noexcept;

/// Whether any mapping of a file can be an object.
[[nodiscard]] bool watches_files(const settings& asked) noexcept;

/// Whether the plain `name` fits the %-encoded pattern with * and ?, which ends at one of `ends` or
/// 0.
[[nodiscard]] bool fits_pattern(const char* encoded, const char* ends, const char* name) noexcept;

/// Whether the plain `name` equals the %-encoded one, which ends at one of `ends` or 0.
[[nodiscard]] bool is_named(const char* encoded, const char* ends, const char* name) noexcept;

} // namespace nodewise::agent
