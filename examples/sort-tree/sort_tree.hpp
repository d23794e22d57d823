// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A merge sort as a tree of tasks: what all forms share. `Fork` runs two functions as tasks and
// waits for both; it also gets an element of the memory that each writes.
#ifndef NODEWISE_EXAMPLES_SORT_TREE_HPP
#define NODEWISE_EXAMPLES_SORT_TREE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

template <class Fork>
class sort_tree {
 public:
  // The arrays have the same length. The two parts that are merged last are in `exchange`, which
  // may be the buffer. `cut_off` elements or fewer are one task.
  sort_tree(double* data, double* buffer, double* exchange, std::size_t cut_off, Fork fork)
      : data_(data), buffer_(buffer), exchange_(exchange), cut_off_(cut_off),
        fork_(std::move(fork)) {}

  // Gives all elements of a part values from 0 to 999 in no order.
  void fill(std::size_t first, std::size_t last, int sweep) {
    if (last - first > cut_off_) {
      const std::size_t half = first + (last - first) / 2;
      fork_(
          data_ + first, [&] { fill(first, half, sweep); }, data_ + half,
          [&] { fill(half, last, sweep); });
      return;
    }
    for (std::size_t i = first; i < last; ++i) {
      data_[i] = value_at(i, sweep);
    }
  }

  // Sorts all elements from first to last, in place.
  void sort(std::size_t first, std::size_t last) { sort(first, last, data_, exchange_); }

  // Sorts a part of the data into the same part of `to`, and needs that of `other`.
  void sort(std::size_t first, std::size_t last, double* to, double* other) {
    if (last - first <= cut_off_) {
      std::sort(data_ + first, data_ + last); // use
      if (to != data_) {
        std::copy(data_ + first, data_ + last, to + first);
      }
      return;
    }
    const std::size_t half = first + (last - first) / 2;
    double* const next = free_beside(other);
    fork_(
        data_ + first, [&] { sort(first, half, other, next); }, data_ + half,
        [&] { sort(half, last, other, next); });
    merge(first, half, last, other, to);
  }
  [[nodiscard]] double* free_beside(const double* other) const {
    return other == buffer_ ? data_ : buffer_;
  }

  // Merges two sorted parts of one array into another.
  void merge(std::size_t first, std::size_t half, std::size_t last, const double* from,
             double* to) {
    merge_into({first, half, last, from, to}, {first, 0}, {last, half - first});
  }

  // The sum of a sorted part; negative if it is not sorted.
  double sum(std::size_t first, std::size_t last) {
    if (last - first > cut_off_) {
      const std::size_t half = first + (last - first) / 2;
      double left = 0;
      double right = 0;
      fork_(
          data_ + first, [&] { left = sum(first, half); }, data_ + half,
          [&] { right = sum(half, last); });
      return left + right;
    }
    double all = 0;
    for (std::size_t i = first; i < last; ++i) {
      all += i > first && data_[i] < data_[i - 1] ? -1e12 : data_[i];
    }
    return all;
  }

 private:
  struct two_parts {
    std::size_t first;
    std::size_t half;
    std::size_t last;
    const double* source;
    double* target;
  };

  static double value_at(std::size_t i, int sweep) {
    const std::uint64_t mixed =
        (i + static_cast<std::uint64_t>(sweep) * 0x9e3779b9U) * 0x9e3779b97f4a7c15U;
    return static_cast<double>((mixed >> 32U) % 1000);
  }

  // A position in the result of a merge, and how many of the elements before it come from the left.
  struct cut {
    std::size_t at;
    std::size_t from_left;
  };

  // The task for the elements between two cuts of the result, so that their owner can write them.
  void merge_into(const two_parts& of, const cut& from, const cut& to) {
    if (to.at - from.at > cut_off_) {
      const std::size_t at = from.at + (to.at - from.at) / 2;
      const cut middle = {at, taken_from_left(of, at)};
      fork_(
          of.target + from.at, [&] { merge_into(of, from, middle); }, of.target + at,
          [&] { merge_into(of, middle, to); });
      return;
    }
    const auto right = [&](const cut& where) {
      return of.source + of.half + (where.at - of.first - where.from_left);
    };
    std::merge(of.source + of.first + from.from_left, of.source + of.first + to.from_left,
               right(from), right(to), of.target + from.at); // use
  }

  // How many of the elements of the result before `at` come from the left part. Equal ones come
  // from the left first.
  static std::size_t taken_from_left(const two_parts& of, std::size_t at) {
    const std::size_t all = at - of.first;
    const double* left = of.source + of.first;
    const double* right = of.source + of.half;
    std::size_t least = all > of.last - of.half ? all - (of.last - of.half) : 0;
    std::size_t most = std::min(all, of.half - of.first);
    while (least < most) {
      const std::size_t middle = least + (most - least) / 2;
      if (left[middle] <= right[all - middle - 1]) {
        least = middle + 1;
      } else {
        most = middle;
      }
    }
    return least;
  }

  double* data_;
  double* buffer_;
  double* exchange_;
  std::size_t cut_off_;
  Fork fork_;
};

inline constexpr std::size_t sort_cut_off = 4096; // doubles: 32 KiB

#endif
