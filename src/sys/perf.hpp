// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel's software events (perf_event_open(2)) and their rings. As in kernel.hpp, every call
// returns 0 (or a value) or an errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "sys/descriptor.hpp"
#include "sys/kernel.hpp"
#include "sys/perf_record.hpp"

namespace nodewise::sys {

/// `attributes_of` in perf.cpp has the kernel's numbers in the same order.
enum class perf_counter {
  minor_faults, ///< page faults that needed no input; counted when they are resolved
  any_faults,   ///< those with input, too; counted, on x86-64, when they begin
  migrations,   ///< of a task to another processor; by the kernel: none with `user_only`
  nothing,      ///< never happens: owns a ring that other events are redirected to
};

inline constexpr cpu_id any_cpu{-1};
/// As `tid`, with a processor: all tasks. Needs more privilege than `user_only` = false (EACCES).
inline constexpr int any_task = -1;

/// An event of one task on one processor, inherited by the tasks it starts. Newer kernels (seen on
/// 6.18) prepare a sample once for all events of a task that use the same counter, so each may get
/// the size and fields of another. Samples that differ must therefore use different counters.
struct perf_request {
  perf_counter what = perf_counter::minor_faults;
  std::uint64_t period = 1; ///< events per sample; 0: count only
  int tid = 0;              ///< 0: the calling thread
  cpu_id cpu = any_cpu;
  std::uint32_t stack_bytes = 0; ///< of the stack, in each sample, with the registers; 0: neither
  bool page_sizes = false;       ///< Linux 5.11
  bool frames = false;           ///< physical addresses: needs the privilege of `user_only` = false
  bool task_records = false;     ///< records of names, forks, ends and executable mappings
  bool build_ids = false;        ///< in the records of mappings; Linux 5.12
  bool user_only = true;         ///< not what happens inside the kernel
  bool from_exec = false;        ///< count from the task's next exec on
  bool disabled = false;         ///< count from `enable` on
  std::uint32_t wake_bytes = 0;  ///< fill level of the ring that wakes a reader; 0: half of it
};

class perf_event {
 public:
  /// EACCES and EPERM: not permitted; ESRCH: no such task; EMFILE: too many files; EINVAL: this
  /// kernel does not support the request.
  [[nodiscard]] static answer<perf_event> open(const perf_request& what) noexcept;

  perf_event() = default;

  // These include the events that tasks have inherited. Return 0 or errno.
  [[nodiscard]] int enable(bool on = true) const noexcept;
  /// Samples go to the other event's ring, which must be of the same processor.
  [[nodiscard]] int redirect_to(const perf_event& other) const noexcept;
  /// How often it has happened, including in tasks that inherited it.
  [[nodiscard]] answer<std::uint64_t> count() const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return file_.number(); }

 private:
  explicit perf_event(int file) noexcept : file_(file) {}
  sys::descriptor file_;
};

struct unmap_ring {
  std::size_t bytes = 0; ///< of the data, which follow one page of the kernel's
  void operator()(void* start) const noexcept;
};

/// The memory that the kernel writes an event's records into. The event must outlive it.
class perf_ring {
 public:
  /// `bytes`: a power of two, at least a page. EPERM: more than kernel.perf_event_mlock_kb and the
  /// limit of locked memory allow all rings of this user together.
  [[nodiscard]] static answer<perf_ring> map(const perf_event& of, std::size_t bytes) noexcept;

  perf_ring() = default;

  /// Calls `take` with each whole record that is there, then returns the space to the kernel.
  /// Returns the number of invalid records.
  std::uint64_t drain(const std::function<void(std::span<const std::byte>)>& take);
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.get_deleter().bytes; }

 private:
  perf_ring(void* start, std::size_t bytes) noexcept : memory_(start, unmap_ring{bytes}) {}
  std::unique_ptr<void, unmap_ring> memory_;
};

/// Raises the limit of open files to its maximum; returns that limit.
std::size_t raise_open_files() noexcept;

} // namespace nodewise::sys
