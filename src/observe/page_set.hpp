// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace nodewise::observe {

/// Pages of processes: one bit each, in blocks of 512 adjacent pages, since pages are mostly
/// adjacent.
class page_set {
 public:
  /// False if the page was in the set already.
  bool insert(int pid, std::uint64_t page) {
    const key block{page / block_pages, pid};
    if (last_ == nullptr || !(block == last_key_)) {
      last_ = &blocks_[block];
      last_key_ = block;
    }
    std::uint64_t& word = (*last_)[page % block_pages / 64];
    const std::uint64_t bit = std::uint64_t{1} << (page % 64);
    const bool added = (word & bit) == 0;
    word |= bit;
    return added;
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    constexpr std::size_t node = sizeof(key) + sizeof(bits) + 2 * sizeof(void*);
    return blocks_.size() * node + blocks_.bucket_count() * sizeof(void*);
  }

 private:
  static constexpr std::uint64_t block_pages = 512;
  using bits = std::array<std::uint64_t, block_pages / 64>;
  struct key {
    std::uint64_t block = 0;
    int pid = 0;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& of) const noexcept {
      // Fibonacci hashing; the blocks of a process follow one another.
      return (of.block ^ static_cast<std::uint64_t>(of.pid) << 40) * 0x9E3779B97F4A7C15U;
    }
  };
  std::unordered_map<key, bits, hash> blocks_;
  key last_key_;
  bits* last_ = nullptr; ///< nodes of an unordered_map stay where they are
};

} // namespace nodewise::observe
