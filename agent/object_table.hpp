// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

#include "agent/range_index.hpp"
#include "agent/settings.hpp"

/// For debuggers that read this process from outside; protocol.h explains it.
extern "C" __attribute__((visibility("default"))) struct nodewise_agent_view nodewise_agent_view;

namespace nodewise::agent {

/// When, by which thread and on which stack an object was allocated. All 0 outside trace mode.
struct allocation {
  std::uint64_t ns;    ///< CLOCK_MONOTONIC
  int tid;             ///< of the allocating thread
  std::uint32_t stack; ///< number of the stack's record, or 0
};

/// Pages that are bound to their present node, while the kernel samples which threads use them.
struct numa_pinned_part {
  std::size_t pages; ///< bound pages of the object, in all
  std::size_t front; ///< bound pages from the start up to the first gap
  unsigned extents;  ///< policies in force for the front
  int last_node;     ///< of the last page of the front
};

/// A range of memory that is placed, or only observed, as a unit. `start` is page-aligned.
struct object {
  char* start;
  char* block;              ///< the next allocator's block around it; nullptr: a mapping of its own
  std::size_t bytes;        ///< as requested by the program
  std::size_t placed_bytes; ///< the length that the owners were computed for
  std::size_t mapped_bytes; ///< a multiple of the page
  std::size_t front_bytes;  ///< of the same mapping, before `start`: see front.hpp
  std::size_t granule_bytes; ///< edges of blocks are multiples of this
  std::uint64_t sequence;    ///< 0, 1, ... in the order of creation
  std::uint64_t blocks;      ///< of a group, else 1
  const void* caller;
  const placement* where;           ///< nullptr: no placement was asked for
  const char* name;                 ///< of a static array, else nullptr
  const std::uint32_t* first_block; ///< of a group: for each page, the first block from there on
  std::uint32_t first_number;       ///< of a group: its own first block
  std::uint32_t kind;               ///< NODEWISE_AGENT_HEAP, ...
  int rule;                         ///< position among the rules, -1: the default
  int pid;                          ///< copies in a forked child belong to the parent's report
  int refused_errno;
  unsigned flags;           ///< NODEWISE_AGENT_PLACED, ...
  unsigned extents;         ///< policies in force
  std::size_t coarse_slots; ///< of a map: parts of fewer owners are joined; 0: no parts are
  allocation made_by;
  numa_pinned_part numa_pinned;
  bool gives_back;   ///< the program gave pages of it back to the kernel: not bound again
  rule_set above;    ///< rules whose `above` fits the allocation's stack
  rule_set numbered; ///< rules that have given it a number
  rule_set within;   ///< of these, the rules whose `nth` has that number
};

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
