// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nodewise::agent {

/// Ranges of addresses in ascending order, to find the one that an address is in. One thread at a
/// time changes the index, any thread reads it without a lock. The ranges do not overlap.
///
/// Two levels: an ordered array of chunks, each a sorted array of ranges. So all operations take
/// O(log n), and a change moves at most a chunk and the array of chunks. A range without room is
/// left out. Chunks are never unmapped, since a reader may still use them.
class range_index {
 public:
  static constexpr std::size_t chunk_ranges = 170; ///< so a chunk fills a page of 4 KiB
  static constexpr std::size_t most_chunks = 8192;

  /// The range that contains an address, or the gap between two ranges.
  struct place {
    std::uintptr_t begin;
    std::uintptr_t end; ///< half-open
    std::uint64_t sequence;
    bool is_range;
    std::size_t version; ///< the result is valid while the index has this version
  };

  void add(std::uintptr_t begin, std::uintptr_t end, std::uint64_t sequence) noexcept;
  void remove(std::uintptr_t begin) noexcept;
  void clear() noexcept;

  /// False if the address is below or above all ranges that the index ever had.
  [[nodiscard]] bool may_hold(std::uintptr_t address) const noexcept {
    return address >= ~complement_of_lowest_.load(std::memory_order_relaxed) &&
           address < highest_.load(std::memory_order_relaxed);
  }
  /// False if the index changes in each attempt.
  [[nodiscard]] bool find(std::uintptr_t address, place& into) const noexcept;
  [[nodiscard]] std::size_t version() const noexcept {
    return version_.load(std::memory_order_acquire);
  }
  /// The start of the last range that has bytes in begin..end, half-open; 0 if there is none. Only
  /// for the thread that may change the index.
  [[nodiscard]] std::uintptr_t last_overlapping(std::uintptr_t begin,
                                                std::uintptr_t end) const noexcept;

 private:
  /// Relaxed atomics suffice: a reader starts again if a writer was active.
  struct range {
    std::atomic<std::uintptr_t> begin;
    std::atomic<std::uintptr_t> end;
    std::atomic<std::uint64_t> sequence;

    range& operator=(const range& from) noexcept;
  };
  struct chunk {
    std::atomic<std::size_t> count;
    range ranges[chunk_ranges];
  };
  [[nodiscard]] static std::size_t count_of(const chunk& in) noexcept;
  /// The number of its ranges that begin at or below the address.
  [[nodiscard]] static std::size_t count_to(const chunk& in, std::uintptr_t address) noexcept;
  /// The last chunk whose first range begins at or below the address, or the first chunk.
  [[nodiscard]] std::size_t chunk_for(std::uintptr_t address, std::size_t chunks) const noexcept;
  [[nodiscard]] chunk& chunk_at(std::size_t position) const noexcept;
  void look(std::uintptr_t address, place& into) const noexcept;

  [[nodiscard]] bool insert_chunk(std::size_t position) noexcept;
  [[nodiscard]] bool split(std::size_t position) noexcept;
  void join_with_next(std::size_t position) noexcept;
  void remove_chunk(std::size_t position) noexcept;
  void begin_change() noexcept;
  void end_change() noexcept;

  std::atomic<std::size_t> version_{0}; ///< odd while a thread changes the index
  std::atomic<std::size_t> chunks_{0};  ///< in use
  /// The complement of the lowest address, so that the index is all zero at first and takes no room
  /// in the library's file.
  std::atomic<std::uintptr_t> complement_of_lowest_{0};
  std::atomic<std::uintptr_t> highest_{0};
  /// Chunks in order. Those after the first `chunks_` are free for reuse.
  std::atomic<chunk*> order_[most_chunks] = {};
};

} // namespace nodewise::agent
