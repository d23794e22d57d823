// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

#include "agent/alloc/object.hpp"
#include "agent/alloc/range_index.hpp"

/// For debuggers that read this process from outside; protocol.h explains it.
extern "C" __attribute__((visibility("default"))) struct nodewise_agent_view nodewise_agent_view;

namespace nodewise::agent {

/// The objects by address: open addressing with linear probing, in memory straight from the
/// kernel.
///
/// Every free() of a page-aligned address calls contains(), so it takes no lock: it reads
/// optimistically and repeats under the lock if a writer was active meanwhile. An outgrown table is
/// never unmapped, since another thread may still read it. All outgrown tables together are smaller
/// than the present one.
class object_table {
 public:
  [[nodiscard]] bool contains(const void* start) noexcept;
  /// False if there is no memory for a larger table.
  [[nodiscard]] bool insert(const object& value) noexcept;
  [[nodiscard]] bool find(const void* start, object& into) noexcept;
  /// Removes the object. If several threads free the same address, one of them gets true.
  [[nodiscard]] bool take(const void* start, object& into) noexcept;
  /// Removes one of the program's own mappings that has bytes in first..last. False if there is
  /// none.
  [[nodiscard]] bool take_overlapping(const char* first, const char* last, object& into) noexcept;
  /// Objects added from now on are also found by any of their bytes.
  void keep_ranges() noexcept { keeps_ranges_ = true; }
  /// Present objects are no longer found by their bytes.
  void forget_ranges() noexcept { ranges_.clear(); }
  [[nodiscard]] const range_index& ranges() const noexcept { return ranges_; }
  /// Replaces the object in the table at the same address.
  void replace(const object& value) noexcept;

  /// Lets `how` change the object at this address if it still has this number. False if it does
  /// not. `how` must not call the table.
  bool change(const void* start, std::uint64_t sequence, void (*how)(object&, void*),
              void* with) noexcept;
  /// The same for the objects that have bytes in first..last, half-open. Only with `keep_ranges`.
  void change_overlapping(const char* first, const char* last, void (*how)(object&, void*),
                          void* with) noexcept;
  /// The same for all objects.
  void change_all(void (*how)(object&, void*), void* with) noexcept;

  struct copy {
    object* objects = nullptr;
    std::size_t count = 0;
    std::size_t mapped_bytes = 0;
  };
  /// Copies all objects to a new mapping. Empty if there is no memory, or if `wait` is false and
  /// the lock is taken: a signal handler may have interrupted its holder.
  [[nodiscard]] copy snapshot(bool wait) noexcept;
  static void release(const copy& made) noexcept;

  // Around fork(): the child must not inherit a table that another thread was changing. The forking
  // thread does not lock meanwhile, since other handlers of fork() may allocate in it.
  void lock_for_fork() noexcept {
    lock();
    forking_ = ::pthread_self();
  }
  void unlock_after_fork() noexcept {
    forking_ = pthread_t{};
    unlock();
  }
  void lock() noexcept {
    if (!is_forking()) {
      ::pthread_mutex_lock(&mutex_);
    }
  }
  void unlock() noexcept {
    if (!is_forking()) {
      ::pthread_mutex_unlock(&mutex_);
    }
  }

 private:
  using key = std::uintptr_t; ///< 0 in an empty slot
  struct slots {
    std::size_t count; ///< a power of two
    object* objects;
    std::atomic<key>* keys;

    [[nodiscard]] std::size_t home(key address) const noexcept;
    [[nodiscard]] std::size_t after(std::size_t at) const noexcept {
      return (at + 1) & (count - 1);
    }
    /// nullptr if no object begins there.
    [[nodiscard]] object* find(const void* start) const noexcept;
    void put(const object& value) noexcept;
    /// `what` is an entry of the table.
    void remove(const object& what) noexcept;
    template <class Each>
    void for_each(Each each) const noexcept {
      for (std::size_t at = 0; at < count; ++at) {
        if (keys[at].load(std::memory_order_relaxed) != 0) {
          each(objects[at]);
        }
      }
    }
  };

  [[nodiscard]] static slots* map_slots(std::size_t count) noexcept;
  [[nodiscard]] bool make_room() noexcept;
  // For the thread that holds the lock:
  [[nodiscard]] object* held(const void* start) const noexcept;
  [[nodiscard]] bool take_held(const void* start, object& into) noexcept;
  void remove_held(const object& what) noexcept;
  void begin_change() noexcept;
  void end_change() noexcept;

  std::atomic<slots*> slots_{nullptr};
  std::atomic<std::size_t> changes_{0}; ///< odd while a writer is active
  std::size_t live_ = 0;
  std::atomic<std::size_t> maps_{0}; ///< of the live objects, the program's own mappings
  range_index map_ranges_;           ///< these mappings by address
  [[nodiscard]] bool is_forking() const noexcept {
    const pthread_t by = forking_.load(std::memory_order_relaxed);
    return by != pthread_t{} && ::pthread_equal(by, ::pthread_self()) != 0;
  }
  std::atomic<pthread_t> forking_{};
  bool keeps_ranges_ = false;
  range_index ranges_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

} // namespace nodewise::agent
