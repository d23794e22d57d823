// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// On which processors the threads of a program and of its children run, from outside and from now
// on: a look at /proc after 5 ms, then at growing distances, so that it costs a long run nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nodewise/id_set.hpp>

namespace nodewise::observe {

/// A thread as far as it was seen.
struct watched_thread {
  int pid = 0;
  int tid = 0;
  std::string name;
  cpu_set allowed;           ///< when it was seen last
  cpu_set ran;               ///< where it was seen, as far as it may still run there
  std::uint64_t busy_ms = 0; ///< processor time when it was seen last
  bool running = false;      ///< it was on a processor at one look at least
};

class thread_watch {
 public:
  /// Watches until it is destroyed or stopped, by a thread that calls `at_start` first.
  explicit thread_watch(int pid, const std::function<void()>& at_start = {});
  ~thread_watch();
  thread_watch(const thread_watch&) = delete;
  thread_watch& operator=(const thread_watch&) = delete;

  /// What was seen so far, by process and thread.
  [[nodiscard]] std::vector<watched_thread> seen() const;
  /// The same, and ends the looks.
  [[nodiscard]] std::vector<watched_thread> stop();

 private:
  void watch();
  void look(); ///< with the lock held

  int root_;
  std::map<std::pair<int, int>, watched_thread> seen_;
  mutable std::mutex lock_;
  std::condition_variable woken_;
  bool ended_ = false;
  std::thread thread_;
};

/// Those that worked, of all threads of a rank: with at least a fiftieth of the busiest thread's
/// time; of a program that ran too shortly for this, those that were seen on a processor.
[[nodiscard]] std::vector<watched_thread> workers_among(const std::vector<watched_thread>& all);

} // namespace nodewise::observe
