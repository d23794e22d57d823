// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Events of a running program, from any source: which thread touched which address, from where,
// when. All times are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nodewise/id.hpp>

#include "sys/perf_record.hpp"

namespace nodewise::observe {

enum class sample_kind : std::uint8_t {
  fault,  ///< a page fault: a first touch, or a hinting fault of NUMA balancing
  access, ///< an access that hardware sampled
};

/// One access to memory.
struct access_sample {
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;
  /// The instruction; in the kernel if a system call touched the program's memory.
  std::uint64_t ip = 0;
  int pid = 0;
  int tid = 0;
  int cpu = -1; ///< the operating system's number
  sample_kind kind = sample_kind::fault;
  /// Of the page at the address, after the access; 0 if unknown.
  std::uint64_t page_bytes = 0;
  /// The page's node at that time; unknown if the kernel does not report physical addresses.
  node_id node = unknown_node;
  friend bool operator==(const access_sample&, const access_sample&) = default;
};

/// The registers and the innermost part of the stack of a thread at an access, to be unwound. The
/// access is also a sample, with the same thread, instruction and address, a moment earlier or
/// later.
struct stack_copy {
  access_sample at;
  sys::user_registers registers;    ///< of the program, even if the kernel touched
  std::span<const std::byte> bytes; ///< from registers.sp on
};

/// A part of a file, or anonymous memory, that was mapped into a program's address space. A forked
/// process begins with its parent's mappings, which are not reported again.
struct module_mapped {
  int pid = 0;
  std::uint64_t time_ns = 0; ///< 0: before the observation began
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  bool executable = false;
  std::string path;     ///< "//anon" and "[heap]" are not files
  std::string build_id; ///< hexadecimal; empty if unknown
};

enum class task_change {
  thread_started,
  process_forked, ///< `name` is empty: it has its parent's
  executed,       ///< became the program `name`: its earlier mappings are gone
  named,          ///< a thread named itself or another one
  ended,          ///< a thread; the process with its last one
};

struct task_event {
  std::uint64_t time_ns = 0;
  task_change what = task_change::named;
  int pid = 0;
  int tid = 0;
  int parent_pid = 0; ///< the process that started or forked it
  int parent_tid = 0;
  std::string name;
};

/// A thread was seen on a processor; when it arrived there is unknown.
struct thread_sighting {
  std::uint64_t time_ns = 0;
  int pid = 0;
  int tid = 0;
  int cpu = -1;
};

/// What a source can report on this system.
struct source_abilities {
  bool first_touches = false;
  bool kernel = false; ///< also those inside system calls; and each migration is a sighting
  bool stacks = false; ///< occasional stack copies
  bool others = false; ///< also reports processes that are not watched
  std::vector<std::string> missing; ///< a sentence each: what, why, hint
};

/// What did not reach the log.
struct source_losses {
  std::uint64_t counted = 0; ///< events that happened, by the kernel's count; 0: unknown
  std::uint64_t taken = 0;   ///< samples that reached the log
  std::uint64_t lost = 0;    ///< samples that did not fit
  /// Stack copies that did not fit, or whose stack could not be read at that moment: the kernel
  /// does not wait for a page, and NUMA balancing unmaps stack pages, too.
  std::uint64_t stacks = 0;
  std::uint64_t damaged = 0; ///< invalid records
  std::uint64_t others = 0;  ///< records of tasks, names and mappings that did not fit
};

class event_log;
enum class beginning { at_exec, now };

/// Samples accesses of threads: the kernel by page faults, or hardware.
class sample_source {
 public:
  virtual ~sample_source() = default;

  /// Known once a thread is watched.
  [[nodiscard]] virtual source_abilities abilities() const = 0;
  /// Samples this thread and all that it starts. Throws `error` (system) if that is refused. False:
  /// the thread has ended.
  virtual bool watch(int tid, beginning when) = 0;
  /// Readable when there is enough to drain. Changes with `watch`.
  [[nodiscard]] virtual std::vector<int> descriptors() const = 0;
  /// Passes on all that is there; returns the number of samples. Events from one processor arrive
  /// in time order.
  virtual std::uint64_t drain(event_log& into) = 0;
  /// Ends sampling; what is there can still be drained.
  virtual void stop() = 0;
  /// Complete after `stop` and the last `drain`.
  [[nodiscard]] virtual source_losses losses() const = 0;
};

} // namespace nodewise::observe
