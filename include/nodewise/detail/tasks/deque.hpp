// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A worker's own tasks: the worker adds and takes at one end, thieves take at the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nodewise/cache_aligned.hpp>

namespace nodewise::inline v0::detail {

/// The deque of Chase and Lev (SPAA 2005) with the memory order of Lê, Pop, Cohen and Zappa
/// Nardelli (PPoPP 2013). Where they have fences, the operations next to the fence have the order:
/// ThreadSanitizer follows those, and x86-64 and AArch64 have the same cost.
///
/// `bottom` is where the owner works, `top` where thieves take. Only for the last item the owner
/// and a thief compete, by compare-and-swap of `top`.
template <class T>
class work_deque {
 public:
  work_deque() { grow_to(first_capacity, 0, 0); }
  work_deque(const work_deque&) = delete;
  work_deque& operator=(const work_deque&) = delete;
  ~work_deque() = default;

  /// Makes room for one more item, so that the next `push` cannot fail. For the owner. Throws
  /// std::bad_alloc.
  void reserve_one() {
    const std::int64_t bottom = bottom_.value.load(std::memory_order_relaxed);
    const std::int64_t top = top_.value.load(std::memory_order_acquire);
    const std::int64_t capacity = rings_.back()->capacity();
    if (bottom - top >= capacity) {
      grow_to(2 * capacity, top, bottom);
    }
  }
  /// Adds an item. For the owner, after `reserve_one`. A thread that makes itself a sleeper and
  /// then calls `steal` sees the item, or this thread sees the sleeper afterwards.
  void push(T* item) noexcept {
    const std::int64_t bottom = bottom_.value.load(std::memory_order_relaxed);
    rings_.back()->put(bottom, item);
    bottom_.value.store(bottom + 1, std::memory_order_seq_cst);
  }
  /// Takes the item that was added last; nullptr if there is none. For the owner.
  [[nodiscard]] T* take() noexcept {
    const std::int64_t bottom = bottom_.value.load(std::memory_order_relaxed) - 1;
    if (bottom < top_.value.load(std::memory_order_relaxed)) {
      return nullptr; // empty: spares the expensive store, since only the owner adds
    }
    bottom_.value.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.value.load(std::memory_order_seq_cst);
    if (top < bottom) {
      return rings_.back()->get(bottom);
    }
    T* last = nullptr;
    if (top == bottom && top_.value.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                                            std::memory_order_relaxed)) {
      last = rings_.back()->get(bottom);
    }
    bottom_.value.store(bottom + 1, std::memory_order_release);
    return last;
  }
  /// Takes the item that was added first; nullptr if there is none. For any thread.
  [[nodiscard]] T* steal() noexcept {
    std::int64_t top = top_.value.load(std::memory_order_seq_cst);
    while (top < bottom_.value.load(std::memory_order_seq_cst)) {
      T* const item = ring_.load(std::memory_order_acquire)->get(top);
      if (top_.value.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                             std::memory_order_seq_cst)) {
        return item;
      }
    }
    return nullptr;
  }

 private:
  static constexpr std::int64_t first_capacity = 256;

  class ring {
   public:
    explicit ring(std::int64_t capacity)
        : mask_(capacity - 1),
          items_(std::make_unique<std::atomic<T*>[]>(static_cast<std::size_t>(capacity))) {}
    [[nodiscard]] std::int64_t capacity() const noexcept { return mask_ + 1; }
    [[nodiscard]] T* get(std::int64_t at) const noexcept {
      return items_[static_cast<std::size_t>(at & mask_)].load(std::memory_order_relaxed);
    }
    void put(std::int64_t at, T* item) noexcept {
      items_[static_cast<std::size_t>(at & mask_)].store(item, std::memory_order_relaxed);
    }

   private:
    std::int64_t mask_;
    std::unique_ptr<std::atomic<T*>[]> items_;
  };

  /// Former rings stay, because a thief may still read one.
  void grow_to(std::int64_t capacity, std::int64_t top, std::int64_t bottom) {
    auto larger = std::make_unique<ring>(capacity);
    for (std::int64_t at = top; at < bottom; ++at) {
      larger->put(at, rings_.back()->get(at));
    }
    rings_.push_back(std::move(larger));
    ring_.store(rings_.back().get(), std::memory_order_release);
  }

  cache_aligned<std::atomic<std::int64_t>> top_;
  cache_aligned<std::atomic<std::int64_t>> bottom_;
  std::atomic<ring*> ring_{nullptr};
  std::vector<std::unique_ptr<ring>> rings_; ///< the owner's
};

} // namespace nodewise::inline v0::detail
