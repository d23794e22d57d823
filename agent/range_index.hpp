// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nodewise::agent {

/// Ranges of addresses in ascending order, for who has an address inside one. One thread at a time
/// changes it, any asks without a lock. What is too many is not in it.
class range_index {
 public:
  static constexpr std::size_t most = 4096;

  /// A range, or the gap between two, around an address.
  struct place {
    std::uintptr_t begin;
    std::uintptr_t end; ///< half-open
    std::uint64_t sequence;
    bool is_range;
    std::size_t version; ///< of the index: the answer is good as long as it has this one
  };

  void add(std::uintptr_t begin, std::uintptr_t end, std::uint64_t sequence) noexcept;
  void remove(std::uintptr_t begin) noexcept;
  void clear() noexcept;

  /// False if the address is below or above all ranges that ever were.
  [[nodiscard]] bool may_hold(std::uintptr_t address) const noexcept {
    return address >= lowest_.load(std::memory_order_relaxed) &&
           address < highest_.load(std::memory_order_relaxed);
  }
  /// False if somebody keeps changing it meanwhile.
  [[nodiscard]] bool find(std::uintptr_t address, place& into) const noexcept;
  [[nodiscard]] std::size_t version() const noexcept {
    return version_.load(std::memory_order_acquire);
  }

 private:
  /// Relaxed atomics: a reader may meet a writer, and then asks again.
  struct range {
    std::atomic<std::uintptr_t> begin;
    std::atomic<std::uintptr_t> end;
    std::atomic<std::uint64_t> sequence;
  };

  /// How many begin at or below the address.
  [[nodiscard]] std::size_t count_to(std::uintptr_t address, std::size_t count) const noexcept;
  static void copy(range& into, const range& from) noexcept;
  void begin_change() noexcept;
  void end_change() noexcept;

  std::atomic<std::size_t> version_{0}; ///< odd while somebody changes it
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uintptr_t> lowest_{UINTPTR_MAX};
  std::atomic<std::uintptr_t> highest_{0};
  range ranges_[most] = {};
};

} // namespace nodewise::agent
