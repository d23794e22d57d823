// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Freed objects that keep their memory and its placement for the next request of the same length
// and placement. A program that allocates and frees in a loop then pays neither system calls nor
// page faults, as with the C library's own heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/alloc/object.hpp"

namespace nodewise::agent {

/// A cache of blocks, and the table of the blocks that are lent from it. No operation waits. Only
/// those that give memory back to the kernel make system calls. A block stays in its slot, one of
/// `ways` slots for its address, until its memory is unmapped.
///
/// Each change of a slot's state is a single exchange. A thread or signal handler skips a slot that
/// another one is changing.
class kept_blocks {
 public:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t sets = 128;
  /// Both as in glibc, whose heap keeps up to twice the largest block that it serves.
  static constexpr std::size_t largest_block_bytes = std::size_t{32} << 20;
  static constexpr std::size_t most_bytes = 2 * largest_block_bytes;
  /// A block goes back to the kernel once this many blocks were added after it was freed.
  static constexpr std::uint64_t longest_kept = 256;

  /// The slot of a block that is neither kept nor lent: only the caller uses it.
  using slot = std::size_t;
  static constexpr slot none = ways * sets;

  /// Whether a later request can use this object's memory like new memory.
  [[nodiscard]] static bool can_be_kept(const object& freed) noexcept;
  /// Takes over the freed object. False if no slot or room is left because blocks are lent: the
  /// caller still owns the object.
  [[nodiscard]] bool keep(const object& freed) noexcept;

  /// Gives an object, whose length and placement are chosen, the placed memory of a kept block. The
  /// memory has its old content. `none` if no block fits.
  [[nodiscard]] slot take(object& wanted, std::size_t alignment) noexcept;
  /// Like `take`, but tries only the block that this thread kept last for that length and
  /// placement, and does not search.
  [[nodiscard]] slot take_last(object& wanted, std::size_t alignment) noexcept;
  /// Enters the object that `take` gave memory to, so that it is found by its address.
  void lend(slot from, const object& made) noexcept;

  [[nodiscard]] bool is_lent(const void* start) const noexcept { return slot_of(start) != none; }
  /// Copies the lent object, which the caller owns. False if no object is lent at this address.
  [[nodiscard]] bool find(const void* start, object& into) const noexcept;
  /// Ends the loan. `none` if there is no loan, or if another thread ended it first.
  [[nodiscard]] slot claim(const void* start) noexcept;
  [[nodiscard]] object& at(slot claimed) noexcept { return objects_[claimed]; }
  /// Keeps the claimed object again after it was freed.
  void put_back(slot claimed) noexcept;
  /// Removes the claimed object from the cache.
  void forget(slot claimed) noexcept;

  /// The resource that is short.
  enum class shortage { memory, policies };
  /// Gives all kept blocks, or those that have policies, back to the kernel. True if there were
  /// any.
  bool give_back_all(shortage of) noexcept;
  /// Bytes of all blocks in slots, kept or lent.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }

  /// Calls `each` with a copy of each lent object. If an object is freed or made meanwhile, its
  /// copy may be inconsistent.
  template <class Each>
  void for_each_lent(Each each) const noexcept {
    if (come_.load(std::memory_order_relaxed) == 0) {
      return; // never used: a read would bring the table into memory
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
  using state = std::uint64_t; ///< `empty`, `busy` (also: lent), or the key of a kept block
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
  [[nodiscard]] bool give_back_oldest() noexcept;
  void give_back_old() noexcept;

  /// The hint of this key and thread. Threads that share a hint overwrite it in turn, and then
  /// search all slots.
  [[nodiscard]] std::atomic<slot>& hint(state key) noexcept;

  static constexpr std::size_t hints = 256;
  std::atomic<slot> hint_[hints] = {}; ///< where the thread last kept a block with this key
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> come_{0};                      ///< blocks that were ever added
  alignas(64) std::atomic<std::uintptr_t> lent_[none] = {}; ///< the object's address, or 0
  std::atomic<state> states_[none] = {};
  std::atomic<std::uint64_t> freed_at_[none] = {}; ///< `come_` at that time
  std::atomic<bool> has_policies_[none] = {};
  object objects_[none] = {};
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit kept_blocks kept_memory;

} // namespace nodewise::agent
