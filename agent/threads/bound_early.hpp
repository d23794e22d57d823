// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include <pthread.h>

namespace nodewise::agent {

/// Threads that were bound before they began to run: their creator has the handle at once.
class bound_early {
 public:
  void add(pthread_t thread) noexcept { handle_[next_.fetch_add(1) % count] = thread; }
  [[nodiscard]] bool take(pthread_t thread) noexcept {
    for (auto& each : handle_) {
      pthread_t found = thread;
      if (each.load() == thread && each.compare_exchange_strong(found, pthread_t{})) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool any() const noexcept { return next_.load() != 0; }

 private:
  static constexpr std::size_t count = 64;
  std::atomic<pthread_t> handle_[count]{};
  std::atomic<std::size_t> next_{0};
};

} // namespace nodewise::agent
