// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// tasks with the library, by oneTBB: chunks of pages are handed out as before, but to the node's
// own arena first. A worker whose node has nothing left helps the nearest node, so the loop ends
// together.
//
// Remote share of the use phase: what was worth helping with, some percent of equal work;
// steal::never makes it 0.
//
// usage: tasks-library [MiB] [sweeps] [threads]
#include <functional>
#include <nodewise/marker.h>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/tbb.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"tasks-library", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  say_what_fails();

  nodewise::tbb_teams teams(nodewise::topology::system(),
                            {.threads = static_cast<std::size_t>(threads)});
  nodewise::array<double> data(n, teams.blocked());
  teams.fill(data, 0.0);

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        data, 0.0,
        [](std::span<double> piece) {
          double mine = 0;
          for (double& each : piece) {
            each += 1.0;
            mine += each;
          }
          return mine;
        },
        std::plus<>(), nodewise::schedule::local_first());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
