// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nested with the library: a call for each node, with an array on it, and inside it the node's own
// team. No variable and no clause says where threads go, and teams are as many as nodes.
//
// Remote share of the use phase: 0.
//
// usage: nested-library [MiB a team] [sweeps]
#include <algorithm>
#include <functional>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"

int main(int argc, char** argv) {
  const command_line line = {"nested-library", "[MiB a team] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 4) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  nodewise::per_thread<double> sums(teams.threads(), 0.0);
  const double start = seconds();
  teams.on_each_node([&](const auto& team) {
    nodewise::array<double, nodewise::bound> data(n, nodewise::bound(team.node()));
    std::ranges::fill(data, 1.0);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      team.on_each_worker([&](const nodewise::worker& me) {
        const auto mine = nodewise::arithmetic::blocked(me.in_team, n, team.size());
        double sum = 0;
        for (std::size_t i = mine.first; i < mine.last; ++i) {
          data[i] += 1.0;
          sum += data[i];
        }
        sums[me] += sum;
      });
    }
  });
  print_result(line, sums.reduce(0.0, std::plus<>()), teams, sweeps, seconds() - start);
}
