// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// half-parallel with the library: both matrices have the same blocks, so nothing hangs on which
// loop fills which of them, and with how many threads.
//
// Remote share of the use phase: 0.
//
// usage: half-parallel-library [MiB a matrix] [sweeps]
#include <functional>
#include <nodewise/marker.h>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"half-parallel-library", "[MiB a matrix] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  nodewise::array<double> a(n, teams.blocked());
  nodewise::array<double> b(n, teams.blocked());
  teams.fill(a, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = static_cast<double>(i % 4);
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        nodewise::over(a, b), 0.0,
        [](std::span<double> to, std::span<double> add) {
          double mine = 0;
          for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] += add[i];
            mine += to[i];
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
