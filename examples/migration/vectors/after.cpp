// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A small solver whose class holds vectors, after: the same vectors with an allocator, and one call
// for the one that grew. The loop is as it was.
//
// Remote share of the use phase: 0, but for rows that two blocks share.
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <nodewise/marker.h>
#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

/// The temperature of a plate whose edges are insulated.
class plate {
 public:
  plate(std::size_t rows, std::size_t columns, const nodewise::blocked& by)
      : rows_(rows), columns_(columns), now_(rows * columns, 20.0, placed(by)), next_(now_),
        heat_(placed(by)) {}

  /// What the next cell is heated by in a step, row by row, as an input file lists it.
  void add_heat(double degrees) { heat_.push_back(degrees); }
  /// To be called when the last cell has its heat.
  void heat_is_complete() { nodewise::place_by_size(heat_, heat_.get_allocator().distribution()); }

  void step() {
#pragma omp parallel for
    for (std::size_t row = 0; row < rows_; ++row) {
      const double* at = &now_[row * columns_];
      const double* above = row == 0 ? at : at - columns_;
      const double* below = row == rows_ - 1 ? at : at + columns_;
      const double* heat = &heat_[row * columns_];
      double* to = &next_[row * columns_];
      for (std::size_t i = 1; i < columns_ - 1; ++i) {
        to[i] = 0.25 * (at[i - 1] + at[i + 1] + above[i] + below[i]) + heat[i];
      }
    }
    std::swap(now_, next_);
  }

  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return now_[row * columns_ + column];
  }

 private:
  using placed = nodewise::allocator<double>;

  std::size_t rows_, columns_;
  std::vector<double, placed> now_, next_, heat_;
};

int main() {
  constexpr std::size_t rows = 1280, columns = 1024;
  nodewise::openmp_teams teams;
  const auto held = teams.runtime().keep_bound();
  plate hot(rows, columns, teams.blocked());
  for (std::size_t cell = 0; cell < rows * columns; ++cell) {
    hot.add_heat(cell % columns == columns / 2 ? 0.5 : 0.0);
  }
  hot.heat_is_complete();

  NODEWISE_MARKER_USE();
  for (int step = 0; step < 6; ++step) {
    hot.step();
  }
  std::printf("middle: %.9f\n", hot.at(rows / 2, columns / 2));
}
