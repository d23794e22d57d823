// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Opening files without taking descriptor numbers from the program. The kernel gives out the lowest
// free number, so a program may close 0 and rely on the next open() to return it. If the agent
// opens a file in between, in another thread, the program gets another number. A permanent
// descriptor does not help: it shows in /proc/self/fd, and closefrom() closes it.
//
// Parts that open files once the program runs:
//   elf_symbols     a module that dlopen() brought     with_own_descriptors
//   residency       pagemap, if move_pages is refused  with_own_descriptors
//   threads_report  /proc/PID/task, at the end         with_own_descriptors
//   announce        /proc/self/maps, at the end        with_own_descriptors
//   system_facts    /proc and /sys, in trace mode      with_own_descriptors (process)
//   pieces          /proc/self/maps, before mremap     with_own_descriptors
//   preloadable     programs about to be started       with_own_descriptors
//   numa_pin        pagemap and stat, from time to time: its thread has a table of its own
// Records are written through a mapping (records.hpp), whose file the constructor opens. The
// agent's dlopen() calls find loaded libraries and open no file. tests/architecture/opens_test.py
// checks every file of the agent that opens files against this table.
#pragma once

namespace nodewise::agent {

/// Calls `work(with)` in a process that shares this one's memory and has its own copy of the
/// descriptor table, and waits for its end: about 0.1 ms. In `work`, gettid(), getpid() and
/// /proc/self are that process's. The calling thread does the work itself if the kernel refuses to
/// make the process, if there is no other thread, and before begin_own_descriptors(). Takes no
/// lock.
void with_own_descriptors(void (*work)(void*), void* with) noexcept;

/// The same for anything that can be called without an argument.
template <class Work>
void with_own_descriptors(Work& work) noexcept {
  with_own_descriptors([](void* with) { (*static_cast<Work*>(with))(); }, &work);
}

/// The constructor is over. Before that no other thread runs, and a program starts faster without
/// the extra process. Each process calls `first` before its work.
void begin_own_descriptors(void (*first)() noexcept) noexcept;

/// True if the C library knows of no other thread. glibc before 2.32 does not report this.
[[nodiscard]] bool is_single_threaded() noexcept;

/// Gives the calling thread, one of the agent's own, an empty descriptor table. 0 or -errno.
[[nodiscard]] long leave_descriptors() noexcept;

} // namespace nodewise::agent
