// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// unpinned with the library: teams are bound, and the same on the same machine, even where oneTBB's
// threads fill an array and OpenMP's work on it.
//
// Remote share of the use phase: 0.
//
// usage: unpinned-library [MiB] [sweeps] [threads]
#include <functional>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>
#include <nodewise/tbb.hpp>

#include "../shared/library.hpp"

namespace {

nodewise::array<double> filled(std::size_t n, const nodewise::layout_options& how) {
  nodewise::tbb_teams teams(nodewise::topology::system(), how);
  nodewise::array<double> data(n, teams.blocked());
  teams.fill(data, 0.0);
  return data;
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"unpinned-library", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  const nodewise::layout_options how = {.threads = static_cast<std::size_t>(threads_at(&line, 3))};
  end_at(&line, 3);
  say_what_fails();

  nodewise::array<double> data = filled(n, how);
  nodewise::openmp_teams teams(nodewise::topology::system(), how);

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        data, 0.0,
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
