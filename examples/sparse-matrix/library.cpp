// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sparse-matrix with the library: nodewise::sparse_matrix cuts the rows so that all workers move
// equally many bytes, and places its arrays and both vectors by that cut. The owners build the
// rows.
//
// Remote share of the use phase: 0, but for a few pages where blocks of rows meet.
//
// usage: sparse-matrix-library [rows] [sweeps]
#include <algorithm>
#include <functional>
#include <nodewise/marker.h>
#include <numeric>
#include <span>

#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

#include "../shared/library.hpp"
#include "matrix.h"

int main(int argc, char** argv) {
  const command_line line = {"sparse-matrix-library", "[rows] [sweeps]", argc, argv};
  const std::size_t n = 16 + static_cast<std::size_t>(number_at(&line, 1, 131072, 1L << 26));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  const auto length = [=](std::size_t row) { return row_length(row, n); };
  const auto fill = [=](std::size_t row, std::span<int> columns, std::span<double> values) {
    std::iota(columns.begin(), columns.end(),
              static_cast<int>(first_column(row, columns.size(), n)));
    std::ranges::fill(values, 1.0);
  };
  const auto a = nodewise::sparse_matrix<double>::from_rows(teams, n, n, length, fill);
  auto x = a.input_vector();
  auto y = a.output_vector();
  teams.for_each_owned(x, [](std::size_t first, std::span<double> part) {
    for (std::size_t k = 0; k < part.size(); ++k) {
      part[k] = static_cast<double>((first + k) % 4);
    }
  });
  teams.fill(y, 0.0);

  NODEWISE_MARKER_USE();
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    nodewise::multiply_add(teams, 1.0, a, x, y);
  }
  const double elapsed = seconds() - start;
  const double sum = teams.reduce_owned(
      y, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  print_result(line, sum, teams, sweeps, elapsed);
}
