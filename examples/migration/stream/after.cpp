// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Four loops of STREAM's kind, after: arrays with a block for each thread, and loops that run on
// the blocks.
//
// Remote share of the use phase: 0, but for pages where two blocks meet.
#include <cstddef>
#include <cstdio>
#include <span>

#include <nodewise/marker.h>
#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

int main() {
  constexpr std::size_t n = 1 << 20;
  constexpr int sweeps = 3;
  using part = std::span<double>;
  nodewise::openmp_teams teams;
  nodewise::array<double> a(n, teams.blocked());
  nodewise::array<double> b(n, teams.blocked());
  nodewise::array<double> c(n, teams.blocked());
  teams.fill(a, 1.0);
  teams.fill(b, 2.0);
  teams.fill(c, 0.0);

  NODEWISE_MARKER_USE();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    teams.for_each_owned(nodewise::over(c, a), [](part to, part x) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = x[i]; // copy
      }
    });
    teams.for_each_owned(nodewise::over(b, c), [](part to, part x) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = 0.5 * x[i]; // scale
      }
    });
    teams.for_each_owned(nodewise::over(c, a, b), [](part to, part x, part y) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = x[i] + y[i]; // add
      }
    });
    teams.for_each_owned(nodewise::over(a, b, c), [](part to, part x, part y) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = x[i] + 0.25 * y[i]; // triad
      }
    });
  }
  std::printf("a: %.9f ... %.9f\n", a[0], a[n - 1]);
  std::printf("%s\n", a.strip().c_str());
}
