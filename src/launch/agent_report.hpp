// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id.hpp>

#include "agent/protocol.h"

namespace nodewise::launch {

/// What is known of an object from its allocation on.
struct object_facts {
  enum class kind { heap, map, static_array, group, region, file };

  std::uint64_t sequence = 0; ///< in the order of allocation
  kind what = kind::heap;
  std::string name;        ///< of a static array: its symbol; of a file: the last part of its path
  std::uint64_t start = 0; ///< address, the last one if it moved
  std::uint64_t bytes = 0;
  std::string caller_module; ///< module of malloc's caller; empty if unknown
  std::uint64_t caller_offset = 0;
  std::uint32_t stack = 0; ///< trace mode: number of a `stack_report` of the process; 0: none
};

/// A large object of the program, and where its pages were when it was freed or the process ended.
/// Counts are base pages. Times are CLOCK_MONOTONIC.
struct object_report : object_facts {
  struct share {
    node_id node = unknown_node;
    std::uint64_t pages = 0;
  };
  /// One of the equal parts that an object is shown in.
  struct cell {
    enum class content { node, empty, unknown, mixed };
    content what = content::unknown;
    node_id node = unknown_node; ///< of more than half of its pages, if it is a node
  };
  /// Consecutive resident pages.
  struct run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    node_id node = unknown_node; ///< unknown: the kernel does not report it
  };

  std::uint64_t blocks = 1;        ///< of a group: the small blocks that make it up
  std::optional<std::size_t> rule; ///< position of the rule that applied
  std::uint64_t granule_bytes = 0; ///< edges of blocks are multiples of this
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::uint64_t on_owner = 0; ///< meaningless if no placement was requested
  std::uint64_t unknown = 0;  ///< in memory, but the kernel does not report the node
  std::vector<share> shares;  ///< ascending by node
  std::vector<cell> strip;
  int refused_errno = 0; ///< why the kernel did not place it
  std::uint32_t extents = 0;
  bool placed = false;
  bool map_limited = false; ///< not placed: too many mappings
  bool reduced = false;     ///< asked page by page, perhaps not for all pages
  bool live_at_end = false;
  bool resized = false;
  bool coarser = false;      ///< in larger granules or parts than requested: map limit
  bool interleaved = false;  ///< cyclic requested, kernel interleave used: map limit
  bool base_pages = false;   ///< huge pages were switched off: blocks are too short for them
  bool partly_gone = false;  ///< the program unmapped or moved a part of it
  bool many_threads = false; ///< a group that several threads allocate: not placed
  bool no_threads = false;   ///< a group, and no thread was started after it: not placed
  bool unasked = false;      ///< no placement was requested: only observed
  // Of trace mode:
  std::uint64_t allocated_ns = 0;
  std::uint64_t freed_ns = 0;   ///< freed, or the end of the process
  std::optional<int> maker_tid; ///< the thread that allocated it
  std::vector<run> where;       ///< ascending
  bool where_cut = false;       ///< `where` is incomplete
  bool not_asked = false;       ///< its pages were not located: one of many short-lived objects

  /// Share of the pages with a known node that are on their owner, 0..1.
  [[nodiscard]] std::optional<double> locality() const noexcept;
};

/// An object at its allocation, and again at each move or change of size. For a process that did
/// not end by itself, these are the only reports of its objects.
struct allocation_report : object_facts {
  std::uint64_t time_ns = 0;
  int tid = 0;
};

/// What an unwinder starts from: the registers at an instruction inside the agent, and the stack
/// from the stack pointer on.
struct stack_report {
  std::uint32_t number = 0;
  int tid = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t machine = 0; ///< EM_X86_64, EM_AARCH64
  std::uint64_t caller = 0;  ///< return address into the program, which the chain contains
  std::uint64_t ip = 0;
  std::uint64_t sp = 0;
  std::uint64_t end = 0; ///< of the thread's stack; beyond `bytes` if these are cut off
  std::array<std::optional<std::uint64_t>, 33> registers; ///< by their numbers in DWARF
  std::string bytes;                                      ///< from `sp` on
};

/// Calls of read(), fread() and the like from one place in the code and one thread that wrote to
/// neighbouring bytes.
struct write_report {
  std::optional<std::uint64_t> sequence; ///< of the object; nullopt for blocks of a group
  std::uint64_t start = 0;               ///< address that `first` and `last` count from
  std::uint64_t first = 0;
  std::uint64_t last = 0; ///< half-open
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t first_ns = 0; ///< when the first call returned
  std::uint64_t last_ns = 0;
  std::string caller_module; ///< module of read()'s caller
  std::uint64_t caller_offset = 0;
  int tid = 0;
  std::uint32_t stack = 0;
};

/// The agent's own count of one process.
struct process_totals : nodewise_agent_end {
  /// In the order of the rules; counts all objects, including those left out.
  std::vector<nodewise_agent_matched> by_rule = {};
};

/// A thread that lived at the end, or that the agent had bound.
struct thread_report {
  int tid = 0;
  std::optional<int> ordinal; ///< among those that the program itself started
  std::string name;
  std::string cpus;  ///< where it may run, as a list; ends with "..." if cut off
  std::string start; ///< the module of its start routine; empty if unknown
  /// Of a thread of an inner team of OpenMP: the sizes of the teams that it is in, outermost first.
  std::vector<std::size_t> team_sizes;
  std::size_t inner_number = 0;         ///< with `team_sizes`: among the threads of all inner teams
  std::optional<cpu_id> last_cpu;       ///< where it ran last, if it lived at the end
  std::optional<std::uint64_t> busy_ms; ///< processor time, likewise
  bool main = false;
  bool pinned = false;       ///< by the agent
  bool own_affinity = false; ///< by the program, which takes precedence
};

struct process_report {
  int pid = 0;
  int parent = 0;            ///< process that forked it; 0 if the record of its start is lost
  std::uint64_t time_ns = 0; ///< of its start
  std::string program;
  std::string allocator;        ///< library that allocates small blocks, if not the C library
  std::uint64_t page_bytes = 0; ///< 0 if the record of its start is lost
  bool foreign_malloc = false;  ///< it defines malloc itself: the agent sees no allocations
  bool made_objects = false;    ///< at least one, reported at its allocation
  std::vector<object_report> objects;
  std::vector<thread_report> threads;
  std::vector<allocation_report> allocations; ///< of trace mode, like the next two
  std::vector<stack_report> stacks;
  std::vector<write_report> writes;
  /// The agent's own thread that keeps the kernel from moving the pages whose accesses it samples,
  /// if it had to bind pages.
  std::optional<nodewise_agent_numa_pinned> numa_pinner;
  std::vector<int> helpers; ///< the agent's own processes, by pid
  /// nullopt if it ended by a signal or became another program.
  std::optional<process_totals> totals;
};

/// The number of threads that share the work: those that the program started itself, otherwise its
/// first thread and the threads of its runtimes. nullopt if unknown.
[[nodiscard]] std::optional<std::size_t> count_workers(const process_report& process);

/// Why the agent's file is smaller than it should be.
enum class room_limit { none, disk, file_size };

struct run_report {
  std::vector<process_report> processes; ///< in the order of their start
  std::uint64_t damaged_bytes = 0;       ///< of the agent's file that form no whole record
  std::uint64_t lost = 0;                ///< records that did not fit, of all processes
  std::uint64_t room_bytes = 0;          ///< of the file
  room_limit limit = room_limit::none;
};

/// Whether all large objects of the process are in the report, and if not, why.
enum class completeness {
  whole,
  died,     ///< it did not end by exit: objects not yet freed are unknown
  replaced, ///< it became another program: same consequence
  cut_off,  ///< records were lost, or objects left out
};
[[nodiscard]] completeness completeness_of(const run_report& report, std::size_t index);

/// What the report lacks and what to do about it, one sentence each. `remedy` describes how to get
/// fewer records.
[[nodiscard]] std::vector<std::string> losses_of(const run_report& report, std::string_view remedy);

/// Reads what the agent wrote (agent/protocol.h). Anything may be missing or cut off: whole records
/// are read, the remaining bytes are counted.
[[nodiscard]] run_report read_agent_report(std::string_view records);
/// The same for a whole file: the file's head precedes the records.
[[nodiscard]] run_report read_agent_file(std::string_view file);

} // namespace nodewise::launch
