// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <unordered_map>

#include "observe/event_log.hpp"

namespace nodewise::observe {

/// Reads from /proc, at intervals, on which processor the threads of the recorded processes run.
class thread_looks {
 public:
  explicit thread_looks(int pid) : pids_{pid} {}

  /// Reads /proc if it is time to. Adds new sightings to the log; the log also names new tasks.
  void look(event_log& log);

 private:
  using clock = std::chrono::steady_clock;
  void follow(const event_log& log);
  void look_at(int pid, event_log& log);

  std::set<int> pids_;
  std::unordered_map<int, int> cpu_of_; ///< by thread
  std::size_t tasks_read_ = 0;
  clock::time_point next_ = clock::now();
};

} // namespace nodewise::observe
