// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// triangular with the library: the matrix is packed, and its rows are cut so that each worker has
// as many bytes: rows get longer, so later workers have fewer. The owners build and multiply their
// rows. The vector, which all rows need, is replicated: a copy on each node.
//
// Remote share of the use phase: 0. Imbalance of the nodes: near 1.
//
// usage: triangular-library [rows] [sweeps]
#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

#include "../shared/library.hpp"
#include "matrix.h"

int main(int argc, char** argv) {
  const command_line line = {"triangular-library", "[rows] [sweeps]", argc, argv};
  const auto n = static_cast<std::size_t>(number_at(&line, 1, 1024, 1L << 20));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  const auto fill = [](std::size_t, std::span<double> row) { std::ranges::fill(row, 1.0); };
  const auto a =
      nodewise::triangular_matrix<double>::from_rows(teams, nodewise::triangle::lower, n, fill);
  nodewise::replicated<double> x(teams.threads(), n);
  x.update([n](std::span<double> copy) { fill_vector(copy.data(), n); });
  auto y = a.output_vector();
  teams.fill(y, 0.0);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    nodewise::multiply(teams, a, x, y);
    sum += teams.reduce_owned(
        y, 0.0,
        [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
