// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace nodewise::agent {

/// Address space that fills up block by block in the order of allocation, by one thread; any thread
/// frees. Lives in memory that is zero and never moves.
class arena {
 public:
  /// Blocks begin behind a header of this size, which is also their alignment.
  static constexpr std::size_t header_bytes = 16;
  /// What goes back to the kernel at once.
  static constexpr std::size_t unit_bytes = std::size_t{64} << 10;

  /// `space` is reserved, without rights. `side` is zero and has room for `side_bytes(bytes)`. The
  /// first block begins `begin` bytes behind the start, a multiple of the header's size.
  void open(char* space, std::size_t bytes, void* side, std::size_t begin) noexcept;
  [[nodiscard]] static std::size_t side_bytes(std::size_t bytes) noexcept;

  [[nodiscard]] bool is_mine() const noexcept { return ::pthread_equal(owner_, ::pthread_self()); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  /// Closes it, and gives the address space back that it has not used.
  void shrink() noexcept;

  /// By the owner alone. nullptr when it is full, closed, or has too many free blocks.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept;
  /// False if the block is free already.
  [[nodiscard]] bool release(void* block) noexcept;
  /// What the program may use of a block.
  [[nodiscard]] static std::size_t usable_bytes(const void* block) noexcept;

  [[nodiscard]] char* start() const noexcept { return space_; }
  [[nodiscard]] std::size_t begin_bytes() const noexcept { return begin_; }
  /// Where the next block begins, in bytes from the start.
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return top_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint32_t blocks() const noexcept {
    return blocks_.load(std::memory_order_acquire);
  }
  /// By page: the number of the first block that begins in it or behind it.
  [[nodiscard]] const std::uint32_t* first_block() const noexcept { return first_block_; }
  [[nodiscard]] std::uint32_t freed() const noexcept {
    return freed_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool commit(std::size_t end) noexcept;
  void number_pages(std::size_t offset) noexcept;
  void drop(std::size_t unit) noexcept;

  char* space_;
  std::size_t bytes_;
  std::size_t begin_;     ///< of the first block
  std::size_t committed_; ///< bytes with rights
  std::size_t numbered_;  ///< pages whose first block is known
  std::atomic<std::size_t> top_;
  std::atomic<std::uint32_t> blocks_;
  std::atomic<std::uint32_t> freed_;
  std::atomic<bool> closed_;
  pthread_t owner_;
  std::uint32_t* first_block_;
  std::atomic<std::uint32_t>* live_; ///< by unit: its blocks, and 1 more while it fills up
};

} // namespace nodewise::agent
