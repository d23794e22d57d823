// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was observed of a program: its objects, which threads touched their pages first, which used
// them, and where the pages were. It holds data without judgement: the observer fills it in, advice
// reads it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include <nodewise/id.hpp>

#include "symbols/chain_names.hpp"

namespace nodewise::profile {

/// A place in machine code, and in the source where it is known.
using frame = symbols::chain_frame;

/// Innermost first. Only the first frame's offset is an instruction; the others are return
/// addresses.
using call_chain = std::vector<frame>;

/// "solver.c:41", "solve", "solver+0x1234": the first of these that is known; "?" if none is.
[[nodiscard]] std::string label_of(const frame& where);
/// The first frame of the program's own code, not of the C or C++ library or its headers, a
/// threading runtime or the agent. If there is none, a frame of such a header; otherwise nullptr.
[[nodiscard]] const frame* own_frame(std::span<const frame> where) noexcept;
/// The return addresses of an allocation on the program's stack, innermost first, without inlined
/// calls and without the agent's frames.
[[nodiscard]] std::vector<const frame*> returns_of(std::span<const frame> where);

/// Consecutive pages on one node.
struct resident_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  node_id node = unknown_node;
};

/// The observation is divided into intervals of equal length, at most this many: an interval is a
/// position, as a page of an object is.
inline constexpr std::uint64_t most_intervals = 128;

/// Consecutive intervals that a thread spent on one node.
using node_run = resident_run;

/// A thread, by its position in `program::threads`.
using thread_index = std::size_t;

struct thread {
  int tid = 0;
  std::string name;
  bool main = false;
  std::uint64_t migrations = 0; ///< changes of processor
  /// Where it ran: samples by node, ascending by node.
  struct stay {
    node_id node = unknown_node;
    std::uint64_t samples = 0;
    friend bool operator==(const stay&, const stay&) = default;
  };
  std::vector<stay> stays = {};
  std::uint64_t instructions = 0;     ///< executed in the phase after initialisation; 0: unknown
  double began_s = 0;                 ///< after the program's start
  std::optional<double> ended_s = {}; ///< before the program's own end
  /// For a thread that the program itself started: its position among those that existed together,
  /// in the order of their start. Empty: a runtime's thread, or unknown.
  std::optional<std::size_t> number = {};
  /// For a thread of an inner OpenMP team.
  struct inner {
    std::vector<std::size_t> teams; ///< sizes of the teams that it is in, outermost first
    std::size_t number = 0;         ///< among the threads of all inner teams
    friend bool operator==(const inner&, const inner&) = default;
  };
  std::optional<inner> nested = {};
  /// In which intervals it was where, ascending; a gap: not known. In an interval with several
  /// nodes, the one with most samples; without a sample, the node where it was seen last.
  std::vector<node_run> seen = {};

  /// The node with most samples; `unknown_node` if there are none.
  [[nodiscard]] node_id home() const noexcept;
  /// A node where it ran, and the share (0..1) of its samples there.
  using place = std::pair<node_id, double>;
  /// Ascending by node, adding up to 1; empty if no node is known. A stay of less than 5 % is left
  /// out: samples are also taken while a thread starts.
  [[nodiscard]] std::vector<place> places() const;
};

/// The words for an enumeration's values in files, in their order.
template <class Enum>
inline constexpr std::array<std::string_view, 0> words_of{};
template <class Enum>
  requires(!words_of<Enum>.empty())
[[nodiscard]] constexpr std::string_view to_string(Enum value) noexcept {
  return words_of<Enum>[static_cast<std::size_t>(value)];
}

enum class object_kind {
  heap,         ///< malloc and its family, new, Fortran's allocate
  map,          ///< the program's own anonymous mmap
  static_array, ///< by its symbol
  group,        ///< many small blocks from one place in the code, in the order of allocation
  stack,
  file,   ///< a mapped file, shared memory
  other,  ///< memory that no object covers
  region, ///< placed by the program itself with the Nodewise library
};
template <>
inline constexpr std::array<std::string_view, 8> words_of<object_kind> = {
    "heap", "map", "static", "group", "stack", "file", "other", "region"};

/// How a page was first touched.
enum class touch_kind {
  code,   ///< an instruction of the program or a library
  kernel, ///< a system call wrote there: read, pread, recv, ...
};
template <>
inline constexpr std::array<std::string_view, 2> words_of<touch_kind> = {"code", "kernel"};

/// First touches of pages by the same code in the same thread.
struct first_touch {
  call_chain where; ///< may be incomplete; empty if only the thread is known
  touch_kind how = touch_kind::code;
  std::optional<thread_index> by;
  node_id from = unknown_node; ///< of the processor
  std::uint64_t pages = 0;
};

/// Consecutive pages with the same first toucher; base pages of the object.
struct touched_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::optional<thread_index> by;
  node_id from = unknown_node;
};

/// How much one thread used some pages. The unit is the program's `use_unit_bytes`.
struct use {
  thread_index by = 0;
  double amount = 0;
};

/// Consecutive pages with the same users in the same proportion; amounts cover all of the pages.
struct use_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::vector<use> by; ///< ascending by thread, each amount above 0
};

/// Accesses of threads on one node to the memory of one.
struct node_use {
  node_id from = unknown_node;   ///< of the thread
  node_id memory = unknown_node; ///< at that time
  double amount = 0;             ///< sampled accesses
};

/// Accesses in consecutive intervals.
struct timed_uses {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::vector<node_use> by; ///< ascending by both nodes, each amount above 0
};

/// Code that used an object, or program memory in general.
struct using_code {
  frame where;
  double amount = 0; ///< in the same unit
};

/// Adds up entries with the same label and keeps at most `most` of them, most used first.
void keep_most_used(std::vector<using_code>& all, std::size_t most);

/// A cache line that several threads write.
struct contested_line {
  std::uint64_t offset = 0; ///< of the line in the object
  std::uint64_t transfers = 0;
  std::uint64_t writers = 0; ///< processors
  bool same_bytes = false;   ///< true sharing
  /// Stores that may also be transfers: emulated processors run in long turns.
  std::uint64_t rewrites = 0;
  std::optional<frame> written_at = {}; ///< the code of most of the sampled stores
};

/// Blocks of this size or more never belong to a group.
inline constexpr std::uint64_t largest_row_bytes = std::uint64_t{128} << 10;

struct object {
  std::uint64_t id = 0; ///< 0, 1, ... in the order of allocation, in one process
  object_kind kind = object_kind::heap;
  std::string name;        ///< a static array's symbol, a file's path
  call_chain made_at;      ///< the allocation; empty if the object was not allocated
  std::uint64_t start = 0; ///< address
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 1; ///< of a group
  std::optional<thread_index> made_by;
  double allocated_s = 0; ///< after the program's start
  double freed_s = 0;     ///< freed, or the program's end
  bool live_at_end = false;
  std::uint64_t pages = 0;          ///< base pages
  std::uint64_t resident = 0;       ///< at its end
  std::uint64_t unseen_touches = 0; ///< resident pages whose first touch was not seen
  std::uint64_t page_bytes = 0;     ///< size of most of its pages, base or huge; 0: unknown
  std::vector<resident_run> where;  ///< at its end, ascending
  std::vector<first_touch> touches; ///< most pages first
  std::vector<touched_run> touched; ///< ascending; without pages whose first touch was not seen
  std::vector<use_run> uses;        ///< ascending; in the phase after initialisation
  double write_share = 0;           ///< 0..1: lines written back per line used, where known
  std::vector<use_run> initialised; ///< as `uses`, for the initialisation phase; only if counted
  double initialised_write_share = 0;
  std::vector<using_code> used_at;       ///< most first
  std::vector<contested_line> contested; ///< worst first
};

/// The source of `uses`.
enum class use_source {
  none,
  hinting_faults, ///< samples that the kernel's NUMA balancing took
  traffic_count,  ///< cache lines, counted in the lab
};
template <>
inline constexpr std::array<std::string_view, 3> words_of<use_source> = {"none", "hinting faults",
                                                                         "traffic count"};

/// How a program ended, as far as it was observed.
enum class program_end {
  exited,
  killed,   ///< by a signal
  running,  ///< still running: only its memory up to then is known
  replaced, ///< by exec
};
template <>
inline constexpr std::array<std::string_view, 4> words_of<program_end> = {"exited", "killed",
                                                                          "running", "replaced"};

/// A library that allocated objects, or whose code called the allocation.
struct library {
  std::string name;     ///< the file's last part
  std::string build_id; ///< hexadecimal
  friend bool operator==(const library&, const library&) = default;
};

struct program {
  int pid = 0;
  int parent = 0;                 ///< 0: not in this profile
  std::optional<int> rank;        ///< in MPI
  std::string processors;         ///< of a rank: the processors it may run on, as a list, or empty
  std::string name;               ///< the file's last part
  std::string file;               ///< path, empty if unknown
  std::string build_id;           ///< hexadecimal, empty if it has none
  std::vector<library> libraries; ///< those with a build id, by name
  program_end end = program_end::running;
  double began_s = 0;  ///< after the start of the observation
  double ended_s = 0;  ///< or when the observation stopped; 0: unknown
  bool openmp = false; ///< a runtime of OpenMP was loaded
  bool tbb = false;
  bool tasks = false; ///< its file starts tasks of OpenMP or oneTBB
  double interval_s = 0; ///< from the start of the observation on; 0: no times are known
  std::vector<thread> threads;
  std::vector<timed_uses> uses_in_time; ///< ascending; empty if not sampled
  std::vector<object> objects;          ///< ascending by id
  use_source use_from = use_source::none;
  double use_unit_bytes = 0; ///< bytes per unit of use: a line; 0: only shares are meaningful

  /// Whether a runtime started its threads and numbers them.
  bool has_runtime() const noexcept { return openmp || tbb; }
};

/// The available evidence, and what is missing.
struct evidence {
  bool faults = false;  ///< first touches were sampled
  bool chains = false;  ///< with call chains
  bool kernel = false;  ///< also those inside the kernel
  bool hinting = false; ///< NUMA balancing was on, so accesses were sampled
  bool counts = false;  ///< the lab counted memory traffic
  bool agent = false;   ///< the agent reported objects
  std::uint64_t fault_samples = 0;
  std::uint64_t hinting_samples = 0;
  std::uint64_t lost_samples = 0;
  std::uint64_t thinned_samples = 0; ///< dropped on purpose to bound memory
  std::uint64_t pages_moved = 0;     ///< by the kernel during the observation
  std::uint64_t pages_bound = 0;     ///< kept in place while the kernel sampled accesses
  std::vector<std::string> missing;  ///< a sentence each: what, why, remedy
};

/// Memory of a node at the start and the end of the observation.
struct node_memory {
  node_id node = unknown_node;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< at the start
  std::uint64_t cache_bytes = 0; ///< page cache at the start
  /// At the time with least free memory, as far as periodic checks saw it.
  struct low {
    std::uint64_t free_bytes = 0;
    std::uint64_t cache_bytes = 0;
  };
  std::optional<low> fullest = {};
};

struct overhead {
  double wall_s = 0;     ///< from the program's start to its end
  double observer_s = 0; ///< processor time of the observing process in that time
};

struct profile {
  std::vector<std::string> command;
  std::size_t page_bytes = 4096; ///< of a base page
  evidence seen;
  overhead cost;
  std::vector<node_memory> memory; ///< ascending by node
  std::vector<program> programs;   ///< in the order of their start
};

/// The program with the most bytes of objects; nullptr if there is no program.
[[nodiscard]] const program* largest_program(const profile& in) noexcept;

/// The name of each object of a program, by its position: the symbol of a static array
/// ("grid::field" in C++ and in Fortran), a file's last part, or the line that allocated it. If one
/// line allocates for several callers, as a wrapper or a template does, the caller's line
/// distinguishes the objects: "solver.cpp:90 (through grid.hpp:12)". Several calls in one line are
/// numbered in the order of their first objects: "solver.c:41 #2".
[[nodiscard]] std::vector<std::string> names_of(const program& of);

// Several profiles of one run as one: each rank of an MPI job writes its own.

/// A profile and the file that it comes from, for error messages.
struct kept_profile {
  std::string file;
  profile what;
};

/// Combines the programs of all profiles as if they ran at the same time. The largest program of
/// each is a rank, with its own number, or in order if none has one. Evidence counts as present
/// only if all parts have it; what only some lack is listed with their files. Throws `error`
/// (usage) if base pages differ, two have the same rank, only some have one, or one contains no
/// program.
[[nodiscard]] profile merge(std::vector<kept_profile> parts);

} // namespace nodewise::profile
