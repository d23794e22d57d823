// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

#include "agent/range_index.hpp"
#include "agent/settings.hpp"

/// For who looks at this process from outside; protocol.h explains it.
extern "C" __attribute__((visibility("default"))) struct nodewise_agent_view nodewise_agent_view;

namespace nodewise::agent {

/// When, by which thread and on which stack an object was allocated. All 0 outside trace mode.
struct allocation {
  std::uint64_t ns;    ///< CLOCK_MONOTONIC
  int tid;             ///< of the thread that made it
  std::uint32_t stack; ///< number of the record that has it, or 0
};

/// Pages that are bound to the node that they are on, while the kernel samples who uses them.
struct numa_pinned_part {
  std::size_t pages; ///< of the object, in all
  std::size_t front; ///< so many from the start on without a gap: nothing more to do there
  unsigned extents;  ///< policies in force for these
  int last_node;     ///< of the last of these
};

/// A range of memory that is placed, or only watched, as one. `start` is page-aligned.
struct object {
  char* start;
  char* block;       ///< of the next allocator that it is in; nullptr: it has its mapping to itself
  std::size_t bytes; ///< what the program asked for
  std::size_t placed_bytes;  ///< the length that the owners were computed for
  std::size_t mapped_bytes;  ///< a multiple of the page
  std::size_t front_bytes;   ///< in front of `start`, of the same mapping: see front.hpp
  std::size_t granule_bytes; ///< edges of blocks are multiples of this
  std::uint64_t sequence;    ///< 0, 1, ... in the order of their making
  std::uint64_t blocks;      ///< of a group, else 1
  const void* caller;
  const placement* where;           ///< nullptr: nobody asked for a placement
  const char* name;                 ///< of a static array, else nullptr
  const std::uint32_t* first_block; ///< of a group: by page, the first block from there on
  std::uint32_t first_number;       ///< of a group: its own first block
  std::uint32_t kind;               ///< NODEWISE_AGENT_HEAP, ...
  int rule;                         ///< position among the rules, -1: the default
  int pid;                          ///< a fork's copies belong to the parent's report
  int refused_errno;
  unsigned flags;           ///< NODEWISE_AGENT_PLACED, ...
  unsigned extents;         ///< policies in force
  std::size_t coarse_slots; ///< of a map: parts of fewer owners are joined; 0: none are
  allocation made_by;
  numa_pinned_part numa_pinned;
  bool gives_back;   ///< the program gave pages of it back to the kernel: not bound again
  rule_set above;    ///< rules whose `above` fits the stack on which it was made
  rule_set numbered; ///< rules that have given it a number
  rule_set within;   ///< of these, by a number that they want
};

/// The objects by address: open addressing with linear probing, its memory straight from the
/// kernel.
///
/// contains() is asked by every free() of a page-aligned address, so it takes no lock: it reads
/// optimistically and asks again under the lock if a writer was at work meanwhile. An outgrown
/// table is never unmapped, as somebody may still read it; all of them together are smaller than
/// the present one.
class object_table {
 public:
  [[nodiscard]] bool contains(const void* start) noexcept;
  /// False if there is no memory for a larger table.
  [[nodiscard]] bool insert(const object& value) noexcept;
  [[nodiscard]] bool find(const void* start, object& into) noexcept;
  /// Removes it: of several threads that free the same address one is answered true.
  [[nodiscard]] bool take(const void* start, object& into) noexcept;
  /// Removes one of the program's own mappings that has bytes in first..last. False if none has.
  [[nodiscard]] bool take_overlapping(const char* first, const char* last, object& into) noexcept;
  /// From now on its objects are also found by any of their bytes.
  void keep_ranges() noexcept { keeps_ranges_ = true; }
  /// Those so far are not.
  void forget_ranges() noexcept { ranges_.clear(); }
  [[nodiscard]] const range_index& ranges() const noexcept { return ranges_; }
  /// For an object that is there under the same address.
  void replace(const object& value) noexcept;

  /// Lets `how` change the object that is there under this address, if it is still the one with
  /// this number. False if it is not. `how` must not ask the table for anything.
  bool change(const void* start, std::uint64_t sequence, void (*how)(object&, void*),
              void* with) noexcept;
  /// The same of the objects that have bytes in first..last, half-open. Only with `keep_ranges`.
  void change_overlapping(const char* first, const char* last, void (*how)(object&, void*),
                          void* with) noexcept;
  /// The same of all objects.
  void change_all(void (*how)(object&, void*), void* with) noexcept;

  struct copy {
    object* objects = nullptr;
    std::size_t count = 0;
    std::size_t mapped_bytes = 0;
  };
  /// All objects, in a mapping of their own. Empty if there is no memory, or if `wait` is false and
  /// the lock is taken: a signal handler may have interrupted its holder.
  [[nodiscard]] copy snapshot(bool wait) noexcept;
  static void release(const copy& made) noexcept;

  // Around fork(): the child must not inherit a table that another thread was changing. Other
  // handlers of fork() may allocate meanwhile, in the thread that forks.
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
    /// Where the key is, or `count`.
    [[nodiscard]] std::size_t position(key address) const noexcept;
    void put(const object& value) noexcept;
    void move(std::size_t from, std::size_t to) noexcept;
    void remove(std::size_t at) noexcept;
  };

  void remove_locked(std::size_t at) noexcept;

  [[nodiscard]] static slots* map_slots(std::size_t count) noexcept;
  [[nodiscard]] bool make_room() noexcept;
  [[nodiscard]] std::size_t locked_position(const void* start) const noexcept;
  void begin_change() noexcept;
  void end_change() noexcept;

  std::atomic<slots*> slots_{nullptr};
  std::atomic<std::size_t> changes_{0}; ///< odd while a writer is at work
  std::size_t live_ = 0;
  std::atomic<std::size_t> maps_{0}; ///< of these, the program's own mappings
  range_index map_ranges_;           ///< these by address
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
