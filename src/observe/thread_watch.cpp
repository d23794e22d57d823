// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/thread_watch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/machine.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "observe/threads.hpp"
#include "sys/process.hpp"

namespace nodewise::observe {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_look{5};
constexpr milliseconds longest_pause{500};
constexpr std::size_t most_processes = 64; // of one rank
constexpr std::uint64_t least_decisive_ms = 50;

/// The children that a process has now; none if the kernel does not list them.
std::vector<int> children_of(sys::process& of) {
  std::vector<int> all;
  for (const int tid : of.threads().value) {
    const std::string text = of.read_file(fmt::format("task/{}/children", tid)).value;
    for (const std::string_view word : split(text, ' ')) {
      if (const auto pid = parse_number<int>(word)) {
        all.push_back(*pid);
      }
    }
  }
  return all;
}

} // namespace

thread_watch::thread_watch(int pid, const std::function<void()>& at_start)
    : root_(pid), thread_([this, at_start] {
        if (at_start) {
          at_start();
        }
        watch();
      }) {}

thread_watch::~thread_watch() {
  (void)stop();
}

std::vector<watched_thread> thread_watch::seen() const {
  const std::lock_guard guard(lock_);
  std::vector<watched_thread> all;
  for (const auto& [key, each] : seen_) {
    all.push_back(each);
  }
  return all;
}

std::vector<watched_thread> thread_watch::stop() {
  {
    const std::lock_guard guard(lock_);
    ended_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  return seen();
}

void thread_watch::watch() {
  milliseconds pause = first_look;
  std::unique_lock guard(lock_);
  // By the system's clock: waiting by another one needs glibc 2.30.
  while (
      !woken_.wait_until(guard, std::chrono::system_clock::now() + pause, [&] { return ended_; })) {
    look();
    pause = std::min(pause * 2, longest_pause);
  }
}

void thread_watch::look() {
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  std::vector<int> left{root_};
  for (std::size_t i = 0; i < left.size() && i < most_processes; ++i) {
    const auto process = sys::real_process(left[i]);
    for (const thread_facts& now : read_threads(*process, machine{}, {})) {
      watched_thread& its = seen_[{left[i], now.tid}];
      its.pid = left[i];
      its.tid = now.tid;
      its.name = now.name;
      its.busy_ms = now.cpu_ticks * 1000 / per_second;
      its.running = its.running || now.state == 'R';
      if (!now.allowed.empty()) {
        its.allowed = now.allowed;
        its.ran = its.ran & now.allowed; // before it was bound it may have been elsewhere
      }
      // The mask is read after the processor, and may have changed in between.
      if (its.allowed.contains(now.last_cpu)) {
        its.ran.insert(now.last_cpu);
      }
    }
    for (const int child : children_of(*process)) {
      left.push_back(child);
    }
  }
}

std::vector<watched_thread> workers_among(const std::vector<watched_thread>& all) {
  constexpr std::uint64_t idle_below = 50; // of the time of the busiest
  std::uint64_t most = 0;
  for (const watched_thread& each : all) {
    most = std::max(most, each.busy_ms);
  }
  std::vector<watched_thread> workers;
  std::ranges::copy_if(all, std::back_inserter(workers), [&](const watched_thread& each) {
    return most >= least_decisive_ms ? each.busy_ms * idle_below >= most
                                     : each.running || each.busy_ms != 0;
  });
  return workers;
}

} // namespace nodewise::observe
