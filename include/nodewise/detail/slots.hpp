// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Values at given offsets in placed memory, for per_thread and per_node.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include <nodewise/cache_aligned.hpp>
#include <nodewise/region.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0::detail {

/// Where the values of a thread_map are. Each node's values have pages of their own.
struct slot_plan {
  std::vector<std::size_t> offsets; ///< bytes, by worker or by team
  std::vector<extent> extents;      ///< one for each team
  std::size_t bytes = 0;
};

/// Plans a slot for each worker, so far apart that they share no cache line.
[[nodiscard]] NODEWISE_API slot_plan slots_of_workers(const thread_map& threads,
                                                      std::size_t value_bytes);
/// Plans a slot for each team.
[[nodiscard]] NODEWISE_API slot_plan slots_of_teams(const thread_map& threads,
                                                    std::size_t value_bytes);

/// Values in slots, constructed in order and destroyed in reverse order. Movable.
template <class T>
class slots {
  static_assert(alignof(T) <= cache_aligned_bytes, "slots begin at multiples of 128 bytes");

 public:
  template <class... Args>
  explicit slots(slot_plan plan, const Args&... args)
      : memory_(plan.bytes, [&plan](std::size_t) { return plan.extents; },
                {strictness::prefer, page_size::base}),
        offsets_(std::move(plan.offsets)) {
    try {
      for (; made_ < offsets_.size(); ++made_) {
        ::new (memory_.data() + offsets_[made_]) T(args...);
      }
    } catch (...) {
      destroy();
      throw;
    }
  }
  slots(slots&& other) noexcept
      : memory_(std::move(other.memory_)), offsets_(std::move(other.offsets_)),
        made_(std::exchange(other.made_, 0)) {}
  slots& operator=(slots&& other) noexcept {
    if (this != &other) {
      destroy();
      memory_ = std::move(other.memory_);
      offsets_ = std::move(other.offsets_);
      made_ = std::exchange(other.made_, 0);
    }
    return *this;
  }
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;
  ~slots() { destroy(); }

  [[nodiscard]] std::size_t size() const noexcept { return made_; }
  [[nodiscard]] T& operator[](std::size_t slot) noexcept {
    return *std::launder(reinterpret_cast<T*>(memory_.data() + offsets_[slot]));
  }
  [[nodiscard]] const T& operator[](std::size_t slot) const noexcept {
    return *std::launder(reinterpret_cast<const T*>(memory_.data() + offsets_[slot]));
  }
  [[nodiscard]] const region& memory() const noexcept { return memory_; }

 private:
  void destroy() noexcept {
    while (made_ != 0) {
      (*this)[--made_].~T();
    }
  }

  region memory_;
  std::vector<std::size_t> offsets_;
  std::size_t made_ = 0;
};

} // namespace nodewise::inline v0::detail
