// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace nodewise::agent {

/// Address space that one thread fills block by block in the order of allocation. Any thread may
/// free. An arena lives in memory that is zero at first and never moves.
class arena {
 public:
  /// Size of the header before each block, and the alignment of blocks.
  static constexpr std::size_t header_bytes = 16;
  /// The unit in which memory goes back to the kernel.
  static constexpr std::size_t unit_bytes = std::size_t{64} << 10;

  /// The bytes that a block takes, with its header.
  [[nodiscard]] static constexpr std::size_t bytes_of_block(std::size_t bytes) noexcept {
    return (bytes + header_bytes - 1) / header_bytes * header_bytes + header_bytes;
  }

  /// Blocks that lie elsewhere, because they were requested before there was an arena. Their room
  /// stays free, so that all later blocks lie where they would with an arena from the first one on.
  struct room {
    std::size_t bytes = 0; ///< sum of `bytes_of_block`
    std::uint32_t blocks = 0;
  };

  /// `space` is reserved without access rights. `side` is zero and has `side_bytes(bytes)` bytes.
  /// The first block, or the room for `earlier` ones, begins `begin` bytes after the start, a
  /// multiple of the header's size.
  void open(char* space, std::size_t bytes, void* side, std::size_t begin, room earlier) noexcept;
  [[nodiscard]] static std::size_t side_bytes(std::size_t bytes) noexcept;

  [[nodiscard]] bool is_mine() const noexcept { return ::pthread_equal(owner_, ::pthread_self()); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  /// Closes the arena and returns its unused address space.
  void shrink() noexcept;

  /// For the owner only. nullptr if the arena is full, closed, or has too many free blocks.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept;
  /// False if the block is already free.
  [[nodiscard]] bool release(void* block) noexcept;
  /// The bytes of a block that the program may use.
  [[nodiscard]] static std::size_t usable_bytes(const void* block) noexcept;

  [[nodiscard]] char* start() const noexcept { return space_; }
  [[nodiscard]] std::size_t begin_bytes() const noexcept { return begin_; }
  /// The offset of the next block from the start.
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return top_.load(std::memory_order_acquire);
  }
  /// With the earlier ones.
  [[nodiscard]] std::uint32_t blocks() const noexcept {
    return blocks_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint32_t own_blocks() const noexcept { return blocks() - earlier_; }
  /// For each page, the number of the first block that begins in it or after it.
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
  std::size_t begin_;     ///< of the first block, or of the room for earlier ones
  std::uint32_t earlier_; ///< blocks
  std::size_t committed_; ///< bytes with access rights
  std::size_t numbered_;  ///< pages whose first block is known
  std::atomic<std::size_t> top_;
  std::atomic<std::uint32_t> blocks_;
  std::atomic<std::uint32_t> freed_;
  std::atomic<bool> closed_;
  pthread_t owner_;
  std::uint32_t* first_block_;
  std::atomic<std::uint32_t>* live_; ///< for each unit its blocks, plus 1 while it fills up
};

} // namespace nodewise::agent
