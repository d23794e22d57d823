// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The counts of the lab's traffic counter as it wrote them, and figures derived from them, without
// name lookup. docs/formats.md describes the file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise::traffic {

/// When a line was moved. A page is in initialisation until a second thread uses it, or until the
/// first requests a line of it again after others were at work (docs/lab.md has the rule); or
/// everything before the program's own mark is initialisation. The rest is use.
enum class phase { initialisation, use };
inline constexpr std::size_t phases = 2;
[[nodiscard]] constexpr std::size_t index_of(phase when) noexcept {
  return when == phase::use ? 1 : 0;
}
/// "init" or "use", as in files and options.
[[nodiscard]] std::string_view to_string(phase when) noexcept;
/// "initialisation" or "use", for text output.
[[nodiscard]] std::string_view phase_name(phase when) noexcept;

/// Cache lines that moved between processors and memory.
struct volume {
  std::uint64_t fills = 0;       ///< read from memory into the caches
  std::uint64_t write_backs = 0; ///< from the caches to memory
  std::uint64_t streams = 0;     ///< written past the caches

  /// Lines that processors requested from memory. A write-back comes later, from the evicting
  /// cache.
  [[nodiscard]] std::uint64_t asked() const noexcept { return fills + streams; }
  /// All lines that the memory moved.
  [[nodiscard]] std::uint64_t moved() const noexcept { return fills + write_backs + streams; }
  volume& operator+=(const volume& other) noexcept;
  friend bool operator==(const volume&, const volume&) = default;
};

/// A modelled cache.
struct modelled_cache {
  int level = 0;
  std::string kind; ///< "data", "unified"
  std::uint64_t bytes = 0;
  unsigned ways = 0;
  std::string shared; ///< "core", "node"
};

struct processor {
  cpu_id cpu{-1};
  node_id node = unknown_node;
};

/// Between a processor and a memory.
struct cell {
  cpu_id cpu{-1};
  node_id to = unknown_node;
  phase when = phase::use;
  volume lines;
  std::uint64_t dirty = 0; ///< lines still dirty in the caches at the end
};

/// Identifies a program by its pid. Each exec of the process adds 10 million, which is above every
/// pid.
using process_key = std::uint64_t;
inline constexpr process_key program_generation = 10'000'000;
/// The pid of the process.
[[nodiscard]] constexpr process_key pid_of(process_key program) noexcept {
  return program % program_generation;
}

struct program {
  process_key pid = 0; ///< 0: everything that did not announce itself
  process_key parent = 0;
  std::string name;
  bool ended = false; ///< it reported its end; otherwise it was killed or became another program
};

/// Numbers the threads of a program in the order of their start: 0, 1, ...; for programs that did
/// not announce themselves, in the order of their first use of memory.
using thread_ordinal = std::uint64_t;

struct thread {
  process_key pid = 0;
  thread_ordinal index = 0;
  int tid = 0;                    ///< in the guest; 0: unknown
  std::uint64_t instructions = 0; ///< in the phase of use; 0: unknown
  /// Where it worked: lines that it requested from memory in use, by its processor's node.
  struct stay {
    node_id node = unknown_node;
    std::uint64_t lines = 0;
  };
  std::vector<stay> stays = {}; ///< ascending by node
};

struct mapping {
  process_key pid = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0; ///< in the file
  std::string name;         ///< a path, "[heap]", "[stack]", or empty
};

/// The name of the mappings that the agent reports for new threads.
inline constexpr std::string_view stack_of_thread = "[stack and thread-local data]";

enum class object_kind {
  heap,
  map,
  static_array,
  group,  ///< many small blocks of one place in the code
  region, ///< placed by the library in the program
  file,   ///< a read-only mapping of a file
  other,  ///< memory of a program that no object covers
};
[[nodiscard]] std::string_view to_string(object_kind what) noexcept;

using object_id = std::uint64_t;

struct object {
  process_key pid = 0;
  object_id id = 0;
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  object_kind kind = object_kind::heap;
  std::string module;       ///< of the caller, without folder; empty if unknown
  std::uint64_t offset = 0; ///< of the return address, from the module's first mapping
  std::string name;         ///< of a static array
  bool freed = false;       ///< before the end
};

/// Between the processors of a node and a memory, for one object.
struct object_traffic {
  process_key pid = 0;
  std::optional<object_id> object; ///< nothing: memory that no object covers
  phase when = phase::use;
  node_id from = unknown_node;
  node_id to = unknown_node;
  volume lines;
};

/// Consecutive pages with the same memory and user. `first` is a page number in the object, or an
/// address without an object. The fills are the sum of all pages.
struct page_run {
  process_key pid = 0;
  std::optional<object_id> object;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  node_id to = unknown_node;
  std::uint64_t local[phases] = {};
  std::uint64_t remote[phases] = {};
  node_id user = unknown_node; ///< with most fills in use
};

/// Lines that a thread requested.
struct thread_lines {
  thread_ordinal thread = 0;
  std::uint64_t lines = 0; ///< at least 1
  friend bool operator==(const thread_lines&, const thread_lines&) = default;
};

/// The threads that used consecutive pages, and how much: lines of the phase of use, filled or
/// streamed. Pages that several threads used form one run only if each thread used the same of
/// every page. `first` as in `page_run`. A page that the kernel moved has one run per memory it was
/// in.
struct user_run {
  process_key pid = 0;
  std::optional<object_id> object;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  node_id to = unknown_node;    ///< where the pages were when these lines were requested
  std::vector<thread_lines> by; ///< of all the pages; ascending by thread, not empty
};

/// Consecutive pages that the same thread used first, in either phase. `first` as in `page_run`.
struct touched_run {
  process_key pid = 0;
  std::optional<object_id> object;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  thread_ordinal thread = 0;
};

/// Lines of an object that one instruction requested in the phase of use.
struct code_use {
  process_key pid = 0;
  std::optional<object_id> object;
  std::uint64_t pc = 0;
  std::uint64_t lines = 0;
};

/// Fills by one instruction.
struct code_traffic {
  process_key pid = 0;
  std::uint64_t pc = 0;
  phase when = phase::use;
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
};

/// A cache line that one processor wrote while others held it.
struct shared_line {
  process_key pid = 0;
  std::uint64_t address = 0;
  std::optional<object_id> object;
  std::uint64_t transfers = 0;
  std::uint64_t invalidations = 0;
  cpu_set writers;
  cpu_set readers;
  bool overlap = false; ///< several wrote the same bytes: true sharing; else false sharing
  /// Of false sharing: stores that may be transfers if processors do not take long turns.
  std::uint64_t rewrites = 0;
  std::uint64_t pc = 0; ///< the instruction that stored most; 0: none was seen
};

struct region_traffic {
  process_key pid = 0;
  std::string name;
  node_id from = unknown_node;
  node_id to = unknown_node;
  volume lines;
};

/// Lines that a processor got from another core's cache, and copies that its writes invalidated.
struct transfer {
  cpu_id cpu{-1};
  std::uint64_t local = 0; ///< in the same node
  std::uint64_t remote = 0;
  std::uint64_t invalidations = 0;
};

/// What the count does not include.
struct omission {
  std::uint64_t count = 0;
  std::string text;
};

/// Processors and pages that were checked against the kernel; all of them agree.
struct self_test {
  std::uint64_t processors = 0;
  std::uint64_t pages = 0;
};

struct counts {
  std::optional<std::string> refused; ///< why there is no count; then all below is empty
  self_test tested;
  std::uint64_t line_bytes = 0;
  std::uint64_t page_bytes = 0;
  bool coherence = false;
  std::vector<modelled_cache> caches;
  std::vector<processor> processors; ///< ascending
  std::vector<node_id> memories;     ///< ascending
  std::vector<program> programs;
  std::vector<thread> threads; ///< ascending within each program
  std::vector<mapping> mappings;
  std::vector<object> objects; ///< ascending by process and id
  std::vector<cell> cells;
  std::vector<transfer> transfers;
  std::vector<object_traffic> by_object;
  std::vector<page_run> pages;
  std::vector<user_run> page_users;
  std::vector<touched_run> touched;
  std::vector<code_use> object_code; ///< most lines first within each object
  std::vector<code_traffic> code;
  std::vector<shared_line> shared; ///< worst first
  std::vector<region_traffic> regions;
  std::vector<omission> uncounted;
  std::optional<std::uint64_t> accesses; ///< of the observed programs

  /// `unknown_node` for a processor that does not exist.
  [[nodiscard]] node_id node_of(cpu_id cpu) const noexcept;
  /// nullptr if there is none.
  [[nodiscard]] const object* find_object(process_key pid, object_id id) const noexcept;
  /// nullptr if there is none.
  [[nodiscard]] const program* find_program(process_key pid) const noexcept;
  /// The mapping at this address, as of the end. After a thread has ended, its stack may be
  /// replaced by a file, and while it exists it is a part of an unnamed mapping. nullptr if there
  /// is none.
  [[nodiscard]] const mapping* find_mapping(process_key pid, std::uint64_t address) const noexcept;
  /// It has neither ended nor become another program.
  [[nodiscard]] bool was_killed(const program& which) const noexcept;
};

/// Reads a counts file. Throws `error` (input) with the line and its fault; the error says "cut
/// off" for a file without its last line. A refusal is not an error: it sets `refused`.
[[nodiscard]] counts read_counts(std::string_view text);

/// Lines by the location of their memory, as seen from the requesting processor.
struct locality {
  std::uint64_t local = 0;
  std::uint64_t remote = 0;
  std::uint64_t unknown = 0; ///< of a processor or memory whose node is unknown

  void add(node_id from, node_id to, std::uint64_t lines) noexcept;
  locality& operator+=(const locality& other) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept { return local + remote + unknown; }
  /// 0..1; unknown lines count as not local. nullopt if no lines were requested.
  [[nodiscard]] std::optional<double> share() const noexcept;
};

struct phase_totals {
  locality where; ///< of `lines.asked()`
  volume lines;
  std::uint64_t dirty = 0;
};
[[nodiscard]] phase_totals totals(const counts& of, phase when);

/// The phase by which a run is judged: use, or initialisation if use is less than a hundredth.
[[nodiscard]] phase judged_phase(const counts& of);

/// Lines requested by the processors of a node (row) from the memory of another (column).
struct node_matrix {
  std::vector<node_id> from; ///< ascending; `unknown_node` first, if it occurs
  std::vector<node_id> to;
  std::vector<std::uint64_t> lines; ///< by row

  [[nodiscard]] std::uint64_t at(std::size_t row, std::size_t column) const {
    return lines[row * to.size() + column];
  }
  [[nodiscard]] std::uint64_t total() const noexcept;
};
[[nodiscard]] node_matrix node_by_node(const counts& of, phase when);

/// The load of one memory: lines moved.
struct memory_load {
  node_id node = unknown_node;
  std::uint64_t lines = 0;
};
/// One per memory, ascending. Without a phase: of both.
[[nodiscard]] std::vector<memory_load> memory_loads(const counts& of, std::optional<phase> when);
/// The busiest memory over the mean of all, from 1 (even) to their number; nullopt without traffic.
[[nodiscard]] std::optional<double> imbalance(const std::vector<memory_load>& loads);

/// Objects that one place in the code allocated, or a static array, in all processes.
struct site {
  object_kind kind = object_kind::other;
  std::string module; ///< as in `object`
  std::uint64_t offset = 0;
  std::string name;    ///< of a static array
  process_key pid = 0; ///< one of the processes that have it
  std::uint64_t objects = 0;
  std::uint64_t freed = 0;
  std::uint64_t bytes = 0; ///< of all of them
  using identity = std::tuple<object_kind, std::string, std::uint64_t, std::string>;
  [[nodiscard]] identity key() const { return {kind, module, offset, name}; }
  using way = std::pair<node_id, node_id>;
  std::array<std::map<way, volume>, phases> flows = {}; ///< from a node's processors to a memory
  std::map<node_id, std::uint64_t> pages = {};          ///< by the memory they are in

  [[nodiscard]] locality where(phase when) const noexcept;
};
/// The site of the object, without any counts.
[[nodiscard]] site site_of(const object& which);
/// Worst first: by remote lines in the phase that is judged, then by all lines.
[[nodiscard]] std::vector<site> sites_of(const counts& of);

/// Whether `a` ranks before `b`.
[[nodiscard]] bool is_worse(const locality& a, const locality& b) noexcept;

} // namespace nodewise::traffic
