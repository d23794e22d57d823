// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>

#include "observe/event_log.hpp"

namespace nodewise::observe {

/// Looks now and then, by /proc, on which processor the threads of the recorded processes are.
class thread_looks {
 public:
  explicit thread_looks(int pid) : pids_{pid} {}

  /// Looks, if it is time to. New sightings go into the log, which also says what was started.
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
