// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was seen of a program: its objects, who touched their pages first, who used them, where they
// were. A value without judgement; whoever observes fills it in, advice reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id.hpp>

namespace nodewise::profile {

/// A place in machine code, and in the source as far as somebody knows it.
struct frame {
  std::string module;       ///< the file's last part; empty if unknown
  std::uint64_t offset = 0; ///< from the module's lowest mapped address; of a call: its return
  std::string function;     ///< demangled
  std::string file;         ///< as the compiler recorded it
  int line = 0;             ///< 0 where nobody knows
  bool inlined = false;     ///< the next frame has the same code, which this was inlined into
  friend bool operator==(const frame&, const frame&) = default;
};

/// Innermost first. Only the first frame's offset is an instruction, the others' are returns.
using call_chain = std::vector<frame>;

/// "solver.c:41", "solve", "solver+0x1234", in this order of what is known; "?" where nothing is.
[[nodiscard]] std::string label_of(const frame& where);
/// The first frame that is the program's own: neither of the C or C++ library or its headers, nor
/// of a runtime for threads, nor of the agent; a header's where there is only that; nullptr where
/// there is none.
[[nodiscard]] const frame* own_frame(std::span<const frame> where) noexcept;
/// The returns of an allocation on the program's stack, innermost first: without inlined calls, and
/// without what stands in front of the program.
[[nodiscard]] std::vector<const frame*> returns_of(std::span<const frame> where);

/// A thread, by its position in `program::threads`.
using thread_index = std::size_t;

struct thread {
  int tid = 0;
  std::string name;
  bool main = false;
  std::uint64_t migrations = 0; ///< changes of processor
  /// Where it was seen at work: samples by node, ascending by node.
  struct stay {
    node_id node = unknown_node;
    std::uint64_t samples = 0;
    friend bool operator==(const stay&, const stay&) = default;
  };
  std::vector<stay> stays;
  std::uint64_t instructions = 0;     ///< executed in the phase after initialisation; 0: unknown
  double began_s = 0;                 ///< after the program's start
  std::optional<double> ended_s = {}; ///< before the program's own end
  /// Of one that the program started itself: among those that were there together, in the order of
  /// their start. Nothing: a runtime's, or nobody told.
  std::optional<std::size_t> number = {};
  /// Of a thread of an inner team of OpenMP's.
  struct inner {
    std::vector<std::size_t> teams; ///< sizes of the teams that it is in, outermost first
    std::size_t number = 0;         ///< among the threads of all inner teams
    friend bool operator==(const inner&, const inner&) = default;
  };
  std::optional<inner> nested = {};

  /// Of most samples; `unknown_node` where it was never seen.
  [[nodiscard]] node_id home() const noexcept;
};

enum class object_kind {
  heap,         ///< malloc and its family, new, Fortran's allocate
  map,          ///< the program's own anonymous mmap
  static_array, ///< by its symbol
  group,        ///< many small blocks of one place in the code, in the order of allocation
  stack,
  file,   ///< a mapped file, shared memory
  other,  ///< memory that no object covers
  region, ///< of the library in the program, which places it itself
};
inline constexpr std::array<std::string_view, 8> object_kind_names = {
    "heap", "map", "static", "group", "stack", "file", "other", "region"};
[[nodiscard]] constexpr std::string_view to_string(object_kind what) noexcept {
  return object_kind_names[static_cast<std::size_t>(what)];
}

/// How a page came into memory.
enum class touch_kind {
  code,   ///< an instruction of the program or a library
  kernel, ///< a system call wrote there: read, pread, recv, ...
};
inline constexpr std::array<std::string_view, 2> touch_kind_names = {"code", "kernel"};
[[nodiscard]] constexpr std::string_view to_string(touch_kind how) noexcept {
  return touch_kind_names[static_cast<std::size_t>(how)];
}

/// First touches of pages by the same code in the same thread.
struct first_touch {
  call_chain where; ///< may be shorter than the truth; empty if only the thread is known
  touch_kind how = touch_kind::code;
  std::optional<thread_index> by;
  node_id from = unknown_node; ///< of the processor
  std::uint64_t pages = 0;
};

/// Who touched pages in a row first; base pages of the object.
struct touched_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::optional<thread_index> by;
  node_id from = unknown_node;
};

/// Pages in a row on one node.
struct resident_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  node_id node = unknown_node;
};

/// What one thread used of some pages. The unit is the program's `use_unit`.
struct use {
  thread_index by = 0;
  double amount = 0;
};

/// Pages in a row with the same users in the same proportion; the amounts are of all of them.
struct use_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::vector<use> by; ///< ascending by thread, each amount above 0
};

/// Code that used an object, or program memory at large.
struct using_code {
  frame where;
  double amount = 0; ///< of the same unit
};

/// Adds up what has one label, and keeps so many of these, most used first.
void keep_most_used(std::vector<using_code>& all, std::size_t most);

/// A cache line that several threads write.
struct contested_line {
  std::uint64_t offset = 0; ///< of the line in the object
  std::uint64_t transfers = 0;
  std::uint64_t writers = 0; ///< processors
  bool same_bytes = false;   ///< true sharing
  /// Stores that may be transfers, too: emulated processors take long turns.
  std::uint64_t rewrites = 0;
  std::optional<frame> written_at = {}; ///< by most of the stores that were looked at
};

/// From here on blocks are never a group's.
inline constexpr std::uint64_t largest_row_bytes = std::uint64_t{128} << 10;

struct object {
  std::uint64_t id = 0; ///< 0, 1, ... in the order of making, in one process
  object_kind kind = object_kind::heap;
  std::string name;        ///< a static array's symbol, a file's path
  call_chain made_at;      ///< the allocation; empty for what was not allocated
  std::uint64_t start = 0; ///< address
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 1; ///< of a group
  std::optional<thread_index> made_by;
  double born_s = 0; ///< after the program's start
  double died_s = 0; ///< freed, or the program's end
  bool live_at_end = false;
  std::uint64_t pages = 0;          ///< base pages
  std::uint64_t resident = 0;       ///< at its end
  std::uint64_t unseen_touches = 0; ///< of the resident ones, pages whose first touch was not seen
  std::uint64_t page_bytes = 0;     ///< that its pages mostly have: base or huge; 0: unknown
  std::vector<resident_run> where;  ///< at its end, ascending
  std::vector<first_touch> touches; ///< most pages first
  std::vector<touched_run> touched; ///< ascending; what nobody saw is left out
  std::vector<use_run> uses;        ///< ascending; in the phase after initialisation
  double write_share = 0;           ///< 0..1: written back beside what was used, where known
  std::vector<use_run> initialised; ///< as `uses`, of the phase before; only where it was counted
  double initialised_write_share = 0;
  std::vector<using_code> used_at;       ///< most first
  std::vector<contested_line> contested; ///< worst first
};

/// Where `uses` come from.
enum class use_source {
  none,
  hinting_faults, ///< samples that the kernel's NUMA balancing took
  traffic_count,  ///< cache lines, counted in the lab
};
inline constexpr std::array<std::string_view, 3> use_source_names = {"none", "hinting faults",
                                                                     "traffic count"};
[[nodiscard]] constexpr std::string_view to_string(use_source from) noexcept {
  return use_source_names[static_cast<std::size_t>(from)];
}

/// How a program ended, as far as it was seen.
enum class program_end {
  exited,
  killed,   ///< by a signal
  running,  ///< it goes on: only its memory till then is known
  replaced, ///< by exec
};
inline constexpr std::array<std::string_view, 4> program_end_names = {"exited", "killed", "running",
                                                                      "replaced"};
[[nodiscard]] constexpr std::string_view to_string(program_end how) noexcept {
  return program_end_names[static_cast<std::size_t>(how)];
}

/// A library that asked for objects, or whose code called it to.
struct library {
  std::string name;     ///< the file's last part
  std::string build_id; ///< hexadecimal
  friend bool operator==(const library&, const library&) = default;
};

struct program {
  int pid = 0;
  int parent = 0;                 ///< 0: not of this profile
  std::optional<int> rank;        ///< of MPI
  std::string processors;         ///< of a rank: those that it may run on, as a list; or empty
  std::string name;               ///< the file's last part
  std::string file;               ///< path, empty if unknown
  std::string build_id;           ///< hexadecimal, empty if it has none
  std::vector<library> libraries; ///< those with a build id, by name
  program_end end = program_end::running;
  double began_s = 0;  ///< after the observation's begin
  double ended_s = 0;  ///< or until when it was observed; 0: unknown
  bool openmp = false; ///< a runtime of OpenMP was loaded
  bool tbb = false;
  std::vector<thread> threads;
  std::vector<object> objects; ///< ascending by id
  use_source use_from = use_source::none;
  double use_unit_bytes = 0; ///< what a unit of use stands for: a line; 0: only shares mean much

  /// Whether a runtime started its threads, which numbers them.
  bool has_runtime() const noexcept { return openmp || tbb; }
};

/// What there is to judge by, and what is missing.
struct evidence {
  bool faults = false;  ///< first touches were sampled
  bool chains = false;  ///< with call chains
  bool kernel = false;  ///< also those that happen inside the kernel
  bool hinting = false; ///< NUMA balancing was on, so that accesses were sampled
  bool counts = false;  ///< the lab counted memory traffic
  bool agent = false;   ///< objects were told by the agent
  std::uint64_t fault_samples = 0;
  std::uint64_t hinting_samples = 0;
  std::uint64_t lost_samples = 0;
  std::uint64_t thinned_samples = 0; ///< left out on purpose to bound memory
  std::uint64_t pages_moved = 0;     ///< by the kernel while it was observed
  std::uint64_t pages_held = 0;      ///< kept where they were while it sampled accesses
  std::vector<std::string> missing;  ///< a sentence each: what, why, cure
};

/// Memory of a node, when the observation began and ended.
struct node_memory {
  node_id node = unknown_node;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< at the beginning
  std::uint64_t cache_bytes = 0; ///< page cache at the beginning
  /// When least was free, as far as it was looked at now and then.
  struct low {
    std::uint64_t free_bytes = 0;
    std::uint64_t cache_bytes = 0;
  };
  std::optional<low> fullest = {};
};

struct overhead {
  double wall_s = 0;     ///< from the program's start to its end
  double observer_s = 0; ///< processor time of the observing process meanwhile
};

struct profile {
  std::vector<std::string> command;
  std::size_t page_bytes = 4096; ///< of a base page
  evidence seen;
  overhead cost;
  std::vector<node_memory> memory; ///< ascending by node
  std::vector<program> programs;   ///< in the order of their start
};

/// By the bytes of its objects; nullptr where there is no program.
[[nodiscard]] const program* largest_program(const profile& in) noexcept;

} // namespace nodewise::profile
