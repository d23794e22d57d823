// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace nodewise::inline v0::detail {

/// Keeps the first exception of many threads, for the thread that started them.
class first_exception {
 public:
  template <class F>
  void guard(F&& f) noexcept {
    try {
      f();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!caught_) {
        caught_ = std::current_exception();
      }
    }
  }
  void rethrow() const {
    if (caught_) {
      std::rethrow_exception(caught_);
    }
  }
  /// The same, and forgets it.
  void rethrow_once() {
    if (caught_) {
      std::rethrow_exception(std::exchange(caught_, nullptr));
    }
  }

 private:
  std::mutex mutex_;
  std::exception_ptr caught_;
};

} // namespace nodewise::inline v0::detail
