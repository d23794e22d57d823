// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Teams of a machine that is not there, with real threads that are bound nowhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <nodewise/node_teams.hpp>

namespace nodewise::test {

class thread_runtime {
 public:
  thread_runtime(const topology& where, const layout_options& how, std::size_t limit = SIZE_MAX)
      : threads_(where, team_layout(where, how)),
        running_(std::min(limit, threads_.workers().size())) {}

  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }
  [[nodiscard]] static std::span<const std::string> notes() noexcept { return {}; }
  [[nodiscard]] std::size_t threads_of_loop() const noexcept { return running_; }

  template <class F>
  void run(F&& f) {
    detail::first_exception failed;
    {
      std::vector<std::jthread> others;
      for (std::size_t thread = 1; thread < running_; ++thread) {
        others.emplace_back([&, thread] { be(thread, f, failed); });
      }
      be(0, f, failed);
    }
    failed.rethrow();
  }

 private:
  /// A thread is several workers in turn where there are fewer threads, as with OMP_THREAD_LIMIT.
  template <class F>
  void be(std::size_t thread, F& f, detail::first_exception& failed) {
    for (std::size_t k = thread; k < threads_.workers().size(); k += running_) {
      failed.guard([&] { f(threads_.workers()[k]); });
    }
  }

  thread_map threads_;
  std::size_t running_;
};

using thread_teams = basic_node_teams<thread_runtime>;

/// A thread for each core of a machine, in the notation of `topology::synthetic`, or fewer.
inline thread_teams threads_on(const std::string& machine, std::size_t limit = SIZE_MAX) {
  return thread_teams(std::in_place, topology::synthetic(machine), layout_options{}, limit);
}

} // namespace nodewise::test
