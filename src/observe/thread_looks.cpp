// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/thread_looks.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "observe/proc_text.hpp"
#include "sys/process.hpp"

namespace nodewise::observe {

void thread_looks::look(event_log& log) {
  const auto begin = clock::now();
  if (begin < next_) {
    return;
  }
  follow(log);
  for (const int pid : std::set(pids_)) {
    look_at(pid, log);
  }
  // Use at most a hundredth of a processor, for any number of threads.
  constexpr std::chrono::milliseconds shortest{100};
  const auto end = clock::now();
  next_ = end + std::max<clock::duration>(shortest, (end - begin) * 100);
}

void thread_looks::follow(const event_log& log) {
  for (; tasks_read_ < log.tasks().size(); ++tasks_read_) {
    const task_event& event = log.tasks()[tasks_read_];
    if (event.what == task_change::process_forked) {
      pids_.insert(event.pid);
    } else if (event.what == task_change::ended) {
      cpu_of_.erase(event.tid);
    }
  }
}

void thread_looks::look_at(int pid, event_log& log) {
  const auto process = sys::real_process(pid);
  const auto tids = process->threads();
  if (!tids) {
    pids_.erase(pid);
    return;
  }
  for (const int tid : tids.value) {
    const auto stat = read_task_stat(*process, fmt::format("task/{}/stat", tid));
    if (!stat) {
      continue; // it has ended meanwhile
    }
    const int cpu = to_int(stat->last_cpu);
    const auto [found, added] = cpu_of_.try_emplace(tid, cpu);
    if (added || found->second != cpu) {
      found->second = cpu;
      const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
          clock::now().time_since_epoch()); // CLOCK_MONOTONIC
      log.take(thread_sighting{static_cast<std::uint64_t>(now.count()), pid, tid, cpu});
    }
  }
}

} // namespace nodewise::observe
