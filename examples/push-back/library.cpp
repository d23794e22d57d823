// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// push-back with the library: the vector grows in one thread as before, and its size need not be
// known beforehand. When it has all its elements, place_by_size gives these their blocks and moves
// the pages once.
//
// Remote share of the use phase: 0.
//
// usage: push-back-library [MiB, a power of two] [sweeps]
#include <functional>
#include <nodewise/marker.h>
#include <span>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"
#include "records.hpp"

int main(int argc, char** argv) {
  const command_line line = {"push-back-library", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = records_in(bytes_at(&line, 1, 16));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  const nodewise::blocked by = teams.blocked();
  std::vector<double, nodewise::allocator<double>> v{nodewise::allocator<double>(by)};
  for (std::size_t i = 0; i < n; ++i) {
    v.push_back(static_cast<double>(i % 4));
  }
  nodewise::place_by_size(v, by);
  const nodewise::owned_span owned(v, by);

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        owned, 0.0,
        [](std::span<double> part) {
          double mine = 0;
          for (double& each : part) {
            each += 1.0;
            mine += each;
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
