// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A stencil that halves its grid until a few rows are left: what all forms share. `Fork` runs two
// functions as tasks and waits for both; it also gets an index of the part that each works on.
#ifndef NODEWISE_EXAMPLES_STENCIL_TREE_HPP
#define NODEWISE_EXAMPLES_STENCIL_TREE_HPP

#include <cstddef>
#include <utility>

#include "../shared/command_line.h"

template <class Fork>
class stencil_tree {
 public:
  static constexpr std::size_t columns = page_doubles; // a row is a page
  static constexpr std::size_t rows_of_a_task = 8;

  stencil_tree(double* now, double* next, std::size_t rows, Fork fork)
      : now_(now), next_(next), rows_(rows), fork_(std::move(fork)) {}

  // Gives the elements of some rows their first values, in both grids: edges never change.
  void fill(std::size_t first, std::size_t last) {
    if (halved(first, last, [&](std::size_t from, std::size_t to) { fill(from, to); })) {
      return;
    }
    for (std::size_t i = first * columns; i < last * columns; ++i) {
      now_[i] = next_[i] = static_cast<double>(i % 10);
    }
  }

  // Each element of some rows becomes the sum of its neighbours, in the other grid.
  void step(std::size_t first, std::size_t last) {
    if (halved(first, last, [&](std::size_t from, std::size_t to) { step(from, to); })) {
      return;
    }
    for (std::size_t row = first; row < last; ++row) {
      if (row == 0 || row + 1 == rows_) {
        continue;
      }
      for (std::size_t i = row * columns + 1; i < (row + 1) * columns - 1; ++i) {
        next_[i] = now_[i - 1] + now_[i + 1] + now_[i - columns] + now_[i + columns]; // use
      }
    }
  }
  // After each step.
  void swap() { std::swap(now_, next_); }

  double sum(std::size_t first, std::size_t last) {
    double left = 0;
    double right = 0;
    if (halved(first, last, [&](std::size_t from, std::size_t to) {
          (from == first ? left : right) = sum(from, to);
        })) {
      return left + right;
    }
    for (std::size_t i = first * columns; i < last * columns; ++i) {
      left += now_[i];
    }
    return left;
  }

 private:
  // Calls `part` for both halves in tasks, if there are enough rows.
  template <class Part>
  bool halved(std::size_t first, std::size_t last, const Part& part) {
    if (last - first <= rows_of_a_task) {
      return false;
    }
    const std::size_t half = first + (last - first) / 2;
    fork_(first * columns, [&] { part(first, half); }, half * columns, [&] { part(half, last); });
    return true;
  }

  double* now_;
  double* next_;
  std::size_t rows_;
  Fork fork_;
};

#endif
