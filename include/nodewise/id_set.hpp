// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sets of nodes and of processors, with the kernel's mask and list formats.
//
//     const auto all = nodewise::cpu_set::parse("0-3,8");
//     const auto rest = all - nodewise::cpu_set{nodewise::cpu_id{2}};
//     for (const nodewise::cpu_id cpu : rest) {
//       std::printf("processor %d\n", nodewise::to_int(cpu));
//     }
//     std::printf("%zu processors: %s\n", rest.size(), rest.to_string().c_str()); // 0-1,3,8
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/export.hpp>
#include <nodewise/id.hpp>

namespace nodewise::inline v0 {

/// The largest number that `parse` accepts: the kernel's own limits are far below, and a typing
/// error must not allocate gigabytes.
inline constexpr int max_id = (1 << 20) - 1;

/// A set of node or processor numbers of any size, stored as the kernel's bit mask.
template <class Id>
class id_set {
 public:
  using word = unsigned long;                                ///< a word of the kernel's masks
  static constexpr std::size_t word_bits = sizeof(word) * 8; ///< numbers in a word

  /// Makes the empty set.
  id_set() = default;
  /// Makes a set of the given numbers. Throws `error` (usage) if one is below 0.
  id_set(std::initializer_list<Id> ids) {
    for (const Id id : ids) {
      insert(id);
    }
  }

  /// Reads the kernel's list format: "0-3,8", or "" for the empty set. Throws `error` (usage) for
  /// anything else.
  [[nodiscard]] static id_set parse(std::string_view list);

  /// Returns the set of every number in first..last, both included.
  [[nodiscard]] static id_set range(Id first, Id last) {
    id_set set;
    for (int id = to_int(first); id <= to_int(last); ++id) {
      set.insert(Id{id});
    }
    return set;
  }

  /// Whether the number is in the set.
  [[nodiscard]] bool contains(Id id) const noexcept {
    const std::size_t at = index(id);
    return to_int(id) >= 0 && at < words_.size() && (words_[at] & bit(id)) != 0;
  }
  /// Adds the number. Throws `error` (usage) if it is below 0, such as `unknown_node`.
  void insert(Id id) {
    if (to_int(id) < 0) {
      refuse_negative(to_int(id));
    }
    if (index(id) >= words_.size()) {
      words_.resize(index(id) + 1);
    }
    words_[index(id)] |= bit(id);
  }
  /// Removes the number if it is in the set.
  void erase(Id id) noexcept {
    if (contains(id)) {
      words_[index(id)] &= ~bit(id);
      trim();
    }
  }

  /// Whether the set is empty.
  [[nodiscard]] bool empty() const noexcept { return words_.empty(); }
  /// Returns how many numbers are in the set.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t count = 0;
    for (const word w : words_) {
      count += static_cast<std::size_t>(std::popcount(w));
    }
    return count;
  }
  /// Returns the lowest number; the set must not be empty.
  [[nodiscard]] Id first() const noexcept { return *begin(); }
  /// Returns the highest number, or -1 if the set is empty.
  [[nodiscard]] int highest() const noexcept {
    return words_.empty()
               ? -1
               : static_cast<int>(words_.size() * word_bits) - 1 - std::countl_zero(words_.back());
  }
  /// Whether all numbers of `other` are in this set.
  [[nodiscard]] bool includes(const id_set& other) const noexcept {
    return (other - *this).empty();
  }
  /// Whether some number is in both sets.
  [[nodiscard]] bool intersects(const id_set& other) const noexcept {
    return !(*this & other).empty();
  }

  /// Returns the kernel's mask: number i is bit i % word_bits of word i / word_bits. There are no
  /// trailing zero words.
  [[nodiscard]] std::span<const word> words() const noexcept { return words_; }

  /// Returns the set in the kernel's list format, "0-3,8".
  [[nodiscard]] std::string to_string() const;

  /// Iterates over the numbers in ascending order. An input iterator: it returns numbers by value.
  class iterator {
   public:
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const Id*;
    using reference = Id;
    /// Makes an iterator without a set.
    iterator() = default;
    /// Makes an iterator to the lowest number that is at least `at`.
    iterator(const id_set* set, int at) noexcept : set_(set), at_(at) { settle(); }
    /// Returns the number.
    Id operator*() const noexcept { return Id{at_}; }
    /// Moves to the next number.
    iterator& operator++() noexcept {
      ++at_;
      settle();
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    /// Moves to the lowest number that is at least `at_`. Skips whole words, because a set of one
    /// processor may have a high number.
    void settle() noexcept {
      const auto& words = set_->words_;
      std::size_t at = static_cast<std::size_t>(at_) / word_bits;
      if (at >= words.size()) {
        return;
      }
      const word rest = words[at] >> (static_cast<std::size_t>(at_) % word_bits);
      if (rest != 0) {
        at_ += std::countr_zero(rest);
        return;
      }
      do {
        ++at;
      } while (at < words.size() && words[at] == 0);
      at_ = at < words.size() ? static_cast<int>(at * word_bits) + std::countr_zero(words[at])
                              : set_->highest() + 1;
    }
    const id_set* set_ = nullptr;
    int at_ = 0;
  };
  /// Returns an iterator to the lowest number.
  [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
  /// Returns an iterator behind the highest number.
  [[nodiscard]] iterator end() const noexcept { return {this, highest() + 1}; }

  /// Returns the union of both sets.
  friend id_set operator|(id_set a, const id_set& b) {
    a.combine(b, [](word x, word y) { return x | y; });
    return a;
  }
  /// Returns the numbers that are in both sets.
  friend id_set operator&(id_set a, const id_set& b) {
    a.combine(b, [](word x, word y) { return x & y; });
    return a;
  }
  /// Returns the numbers that are in `a` but not in `b`.
  friend id_set operator-(id_set a, const id_set& b) {
    a.combine(b, [](word x, word y) { return x & ~y; });
    return a;
  }
  friend bool operator==(const id_set&, const id_set&) = default;

 private:
  [[noreturn]] static void refuse_negative(int id);
  static std::size_t index(Id id) noexcept {
    return static_cast<std::size_t>(to_int(id)) / word_bits;
  }
  static word bit(Id id) noexcept {
    return word{1} << (static_cast<std::size_t>(to_int(id)) % word_bits);
  }
  template <class Op>
  void combine(const id_set& other, Op op) {
    if (other.words_.size() > words_.size()) {
      words_.resize(other.words_.size());
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] = op(words_[i], i < other.words_.size() ? other.words_[i] : word{0});
    }
    trim();
  }
  void trim() noexcept {
    while (!words_.empty() && words_.back() == 0) {
      words_.pop_back();
    }
  }

  std::vector<word> words_;
};

using node_set = id_set<node_id>; ///< a set of NUMA nodes
using cpu_set = id_set<cpu_id>;   ///< a set of processors

extern template class NODEWISE_API id_set<node_id>;
extern template class NODEWISE_API id_set<cpu_id>;

} // namespace nodewise::inline v0
