// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace nodewise::agent {

/// A range of memory that the agent mapped for one allocation. `start` is page-aligned.
struct object {
  char* start;
  std::size_t bytes;        ///< what the program asked for
  std::size_t placed_bytes; ///< the length that the owners were computed for
  std::size_t mapped_bytes; ///< room, a multiple of the page
  std::size_t granule_bytes;
  std::uint64_t sequence;
  const void* caller;
  int pid; ///< a fork's copies belong to the parent's report
  int tid;
  int refused_errno;
  unsigned flags; ///< NODEWISE_AGENT_PLACED, ...
  unsigned extents;
};

/// The objects by address: open addressing, its memory straight from the kernel.
///
/// contains() takes no lock, as every free() of a page-aligned address asks it. What makes that safe:
/// writers hold the lock; whoever asks for an address got it from its insertion, directly or through
/// the program's own synchronisation, so sees at least the table as it was then; a slot between a
/// live key and its home never becomes empty; and an outgrown table is never unmapped (all of them
/// together are smaller than the present one).
class object_table {
 public:
  [[nodiscard]] bool contains(const void* start) const noexcept;
  /// False if there is no memory for a larger table.
  [[nodiscard]] bool insert(const object& value) noexcept;
  [[nodiscard]] bool find(const void* start, object& into) noexcept;
  /// Removes it: of several threads that free the same address one is answered true.
  [[nodiscard]] bool take(const void* start, object& into) noexcept;
  void replace(const object& value) noexcept;

  struct copy {
    object* objects = nullptr;
    std::size_t count = 0;
    std::size_t mapped_bytes = 0;
  };
  /// All objects, in a mapping of their own. Empty if there is no memory, or if `wait` is false and
  /// the lock is taken: a signal handler may have interrupted its holder.
  [[nodiscard]] copy snapshot(bool wait) noexcept;
  static void release(const copy& made) noexcept;

  // Around fork(): the child's table must not be one that another thread was changing.
  void lock() noexcept { ::pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { ::pthread_mutex_unlock(&mutex_); }

 private:
  using key = std::uintptr_t;
  struct slots {
    std::size_t count; ///< a power of two
    std::atomic<key>* keys;
    object* objects;
  };

  static constexpr key empty = 0;
  static constexpr key removed = 1; ///< no address: not page-aligned

  static std::size_t home(key address, std::size_t count) noexcept;
  static std::size_t position(const slots& in, key address) noexcept;
  [[nodiscard]] bool grow() noexcept;
  static slots* map_slots(std::size_t count) noexcept;
  static void put(slots& into, const object& value) noexcept;
  static void remove_at(slots& from, std::size_t at) noexcept;

  std::atomic<slots*> slots_{nullptr};
  std::size_t live_ = 0;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

} // namespace nodewise::agent
