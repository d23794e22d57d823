// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// vector with the library: its allocator gives each block of the vector to the node of a worker,
// and elements no value. owned_span gives the loop the owner of each element.
//
// Remote share of the use phase: 0.
//
// usage: vector-library [MiB] [sweeps]
#include <functional>
#include <span>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"vector-library", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  const nodewise::blocked by = teams.blocked();
  std::vector<double, nodewise::allocator<double>> v(n, nodewise::allocator<double>(by));
  const nodewise::owned_span owned(v, by);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        owned, 0.0,
        [](std::size_t first, std::span<double> part) {
          double mine = 0;
          for (std::size_t i = 0; i < part.size(); ++i) {
            part[i] += static_cast<double>((first + i) % 4);
            mine += part[i];
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
