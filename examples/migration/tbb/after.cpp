// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A oneTBB loop over a vector, after: an array in blocks, and workers that take pieces of their own
// node's block as long as there are any.
//
// Remote share of the use phase: what workers stole, some percent.
#include <cstddef>
#include <cstdio>
#include <span>

#include <nodewise/marker.h>
#include <nodewise/nodewise.hpp>
#include <nodewise/tbb.hpp>

int main() {
  constexpr std::size_t n = 2 << 20;
  constexpr int sweeps = 8;
  nodewise::tbb_teams teams;
  nodewise::array<double> level(n, teams.blocked());
  teams.fill(level, 1.0);

  NODEWISE_MARKER_USE();
  nodewise::loop_statistics done;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    done += teams.for_each_owned(
        level,
        [](std::span<double> piece) {
          for (double& each : piece) {
            each = 0.5 * each + 1.0;
          }
        },
        nodewise::schedule::local_first());
  }
  std::printf("level: %.9f ... %.9f\n", level[0], level[n - 1]);
  std::printf("%s\n%s\n", level.strip().c_str(), to_string(done).c_str());
}
