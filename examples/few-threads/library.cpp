// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// few-threads with the library: the threads are few and spread, the pages are dealt round over all
// nodes, also those without threads. Who is nearest works on their pages.
//
// Remote share of the use phase: (n-t)/n with t threads on n nodes, on purpose. Imbalance, the
// busiest node's traffic over the mean of all: 1. advise_arrangement reports whether it pays.
//
// usage: few-threads-library [threads] [MiB] [sweeps]
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"few-threads-library", "[threads] [MiB] [sweeps]", argc, argv};
  const auto threads = static_cast<std::size_t>(number_at(&line, 1, 1, 1024));
  const std::size_t n = bytes_at(&line, 2, 8) / sizeof(double);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  say_what_fails();

  const nodewise::topology machine = nodewise::topology::system();
  const nodewise::node_set nodes = machine.memory_nodes();
  const std::vector<nodewise::node_id> all_nodes(nodes.begin(), nodes.end());
  nodewise::openmp_teams teams(machine,
                               {.policy = nodewise::bind_policy::spread, .threads = threads});
  nodewise::array<double, nodewise::block_cyclic> data(n, nodewise::block_cyclic(all_nodes, 16));
  teams.for_each_owned(data, [](std::size_t first, std::span<double> part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = static_cast<double>((first + i) % 8);
    }
  });

  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        data, 0.0,
        [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
