// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Freed objects that keep their memory and its placement for the next request of the same length
// and placement. A program that allocates and frees in a loop then pays neither system calls nor
// page faults, as with the C library's own heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/object_table.hpp"

namespace nodewise::agent {

/// A cache of blocks, and the table of those that were given out from it. No operation waits or
/// makes a system call, but for those that give memory back to the kernel. A block stays in its
/// slot, of which there are `ways` for an address, until its memory goes.
///
/// What a thread or a signal handler does while another one is at work on a slot passes that slot
/// by: all changes of its state are single exchanges.
class kept_blocks {
 public:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t sets = 128;
  /// Both as glibc: its heap keeps up to twice the largest block that it takes from there.
  static constexpr std::size_t largest_block_bytes = std::size_t{32} << 20;
  static constexpr std::size_t most_bytes = 2 * largest_block_bytes;
  /// A block goes back to the kernel when so many new ones have come since it was freed.
  static constexpr std::uint64_t longest_kept = 256;

  /// Of a block that is neither kept nor lent: the caller's alone.
  using slot = std::size_t;
  static constexpr slot none = ways * sets;

  /// Whether a later request can have this object's memory as if it were new.
  [[nodiscard]] static bool can_be_kept(const object& freed) noexcept;
  /// Takes the freed object over. False if there is no slot or no room for it among blocks that are
  /// lent: it is still the caller's.
  [[nodiscard]] bool keep(const object& freed) noexcept;

  /// A kept block for an object whose length and placement are chosen: gives it memory that is
  /// placed, with whatever the program left in it. `none` if there is no such block.
  [[nodiscard]] slot take(object& wanted, std::size_t alignment) noexcept;
  /// The same, but only the block that this thread kept last for that length and placement: no
  /// search.
  [[nodiscard]] slot take_last(object& wanted, std::size_t alignment) noexcept;
  /// Enters the object, which `take` gave memory to: from now on it is found by its address.
  void lend(slot from, const object& made) noexcept;

  [[nodiscard]] bool is_lent(const void* start) const noexcept { return slot_of(start) != none; }
  /// Copies the lent object that the caller owns. False if none is lent at this address.
  [[nodiscard]] bool find(const void* start, object& into) const noexcept;
  /// Ends the loan. `none` if there is none, or if another thread was first.
  [[nodiscard]] slot claim(const void* start) noexcept;
  [[nodiscard]] object& at(slot claimed) noexcept { return objects_[claimed]; }
  /// The claimed object was freed, and is kept again.
  void put_back(slot claimed) noexcept;
  /// The claimed object is not the cache's any more.
  void forget(slot claimed) noexcept;

  /// What the kernel or the agent has too little of.
  enum class shortage { memory, policies };
  /// Gives kept blocks back to the kernel: all, or those that have policies. True if there were
  /// some.
  bool give_back_all(shortage of) noexcept;
  /// Of all blocks in slots, kept or lent.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }

  /// A copy of each lent object. One that is freed or made meanwhile may be torn.
  template <class Each>
  void for_each_lent(Each each) const noexcept {
    if (come_.load(std::memory_order_relaxed) == 0) {
      return; // the table was never used, and looking would bring it into memory
    }
    for (slot i = 0; i < none; ++i) {
      const std::uintptr_t lent = lent_[i].load(std::memory_order_acquire);
      if (lent == 0) {
        continue;
      }
      object copy = objects_[i];
      if (reinterpret_cast<std::uintptr_t>(copy.start) == lent) {
        each(copy);
      }
    }
  }

 private:
  using state = std::uint64_t; ///< `empty`, `busy` (lent, too), or the key that it is kept under
  static constexpr state empty = 0;
  static constexpr state busy = 1;

  [[nodiscard]] static state key_of(const object& what) noexcept;
  [[nodiscard]] static slot first_way(const void* start) noexcept;
  [[nodiscard]] slot slot_of(const void* start) const noexcept;
  [[nodiscard]] slot free_way(const void* start) noexcept;
  [[nodiscard]] bool take_from(slot from, state key, object& wanted,
                               std::size_t alignment) noexcept;
  [[nodiscard]] bool give_back(slot from) noexcept;
  [[nodiscard]] bool drop(slot from) noexcept;
  [[nodiscard]] bool reserve(std::size_t bytes) noexcept;
  [[nodiscard]] bool give_back_oldest() noexcept;
  void give_back_old() noexcept;
  void show() const noexcept;

  /// Of this key and thread. Threads that shared one would in turn overwrite it and search all
  /// slots.
  [[nodiscard]] std::atomic<slot>& hint(state key) noexcept;

  static constexpr std::size_t hints = 256;
  std::atomic<slot> hint_[hints] = {}; ///< where the thread last kept a block with this key
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> come_{0};                      ///< blocks that were ever taken over
  alignas(64) std::atomic<std::uintptr_t> lent_[none] = {}; ///< the object's address, or 0
  std::atomic<state> states_[none] = {};
  std::atomic<std::uint64_t> freed_at_[none] = {}; ///< by `come_`
  std::atomic<bool> has_policies_[none] = {};
  object objects_[none] = {};
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
extern constinit kept_blocks kept_memory;

} // namespace nodewise::agent
