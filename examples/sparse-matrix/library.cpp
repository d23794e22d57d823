// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sparse-matrix with the library: a block of rows for each worker. Vectors and row_ptr have these
// blocks; col_idx and val have blocks as long as the entries of the rows, since rows differ. Where
// rows begin one thread still counts: the policy beats the touch.
//
// Remote share of the use phase: 0, but for a few pages where blocks of rows meet.
//
// usage: sparse-matrix-library [rows] [sweeps]
#include <cstdint>
#include <functional>
#include <nodewise/marker.h>
#include <numeric>
#include <span>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"
#include "matrix.h"

int main(int argc, char** argv) {
  const command_line line = {"sparse-matrix-library", "[rows] [sweeps]", argc, argv};
  const std::size_t n = 16 + static_cast<std::size_t>(number_at(&line, 1, 131072, 1L << 26));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  const std::size_t workers = teams.threads().workers().size();
  const auto rows_of = [=](std::size_t k) { return nodewise::arithmetic::blocked(k, n, workers); };

  nodewise::array<std::size_t> row_ptr(n + 1, teams.blocked());
  for (std::size_t row = 0; row < n; ++row) {
    row_ptr[row + 1] = row_ptr[row] + row_length(row, n);
  }
  std::vector<std::uint32_t> entries; // of each worker's rows
  for (std::size_t k = 0; k < workers; ++k) {
    const auto rows = rows_of(k);
    entries.push_back(static_cast<std::uint32_t>(row_ptr[rows.last] - row_ptr[rows.first]));
  }
  const nodewise::weighted_blocks by_entries(teams.threads().owners(), entries);
  nodewise::array<int, nodewise::weighted_blocks> col_idx(row_ptr[n], by_entries);
  nodewise::array<double, nodewise::weighted_blocks> val(row_ptr[n], by_entries);
  nodewise::array<double> x(n, teams.blocked());
  nodewise::array<double> y(n, teams.blocked());
  const matrix a = {n, row_ptr.data(), col_idx.data(), val.data()};

  teams.on_each_worker([&](const nodewise::worker& me) {
    for (std::size_t row = rows_of(me.number).first; row < rows_of(me.number).last; ++row) {
      fill_row(&a, row);
      x[row] = static_cast<double>(row % 4);
      y[row] = 0.0;
    }
  });

  NODEWISE_MARKER_USE();
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    teams.on_each_worker([&](const nodewise::worker& me) {
      for (std::size_t row = rows_of(me.number).first; row < rows_of(me.number).last; ++row) {
        double sum = 0;
        for (std::size_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k) {
          sum += val[k] * x[static_cast<std::size_t>(col_idx[k])];
        }
        y[row] += sum;
      }
    });
  }
  const double elapsed = seconds() - start;
  const double sum = teams.reduce_owned(
      y, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  print_result(line, sum, teams, sweeps, elapsed);
}
