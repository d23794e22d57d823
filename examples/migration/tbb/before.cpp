// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A oneTBB loop over a vector, before: the vector's constructor writes every element with one
// thread, and any worker takes any piece of the loop.
//
// Remote share of the use phase, with n nodes: (n-1)/n, if all workers do as much.
#include <cstddef>
#include <cstdio>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <nodewise/marker.h>

int main() {
  constexpr std::size_t n = 2 << 20;
  constexpr int sweeps = 8;
  std::vector<double> level(n, 1.0);

  NODEWISE_MARKER_USE();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, level.size()),
                      [&](const tbb::blocked_range<std::size_t>& piece) {
                        for (std::size_t i = piece.begin(); i != piece.end(); ++i) {
                          level[i] = 0.5 * level[i] + 1.0;
                        }
                      });
  }
  std::printf("level: %.9f ... %.9f\n", level.front(), level.back());
}
