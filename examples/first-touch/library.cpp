// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// first-touch with the library: arrays in a block for each thread, loops over the blocks by the
// threads of their nodes. Nothing has to be bound from outside.
#include <cstdio>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

int main() {
  nodewise::openmp_teams teams; // a thread a core, bound, one team a node
  nodewise::array<float> a(4 << 20, teams.blocked()), b(4 << 20, teams.blocked()),
      c(4 << 20, teams.blocked());
  teams.fill(a, 0.0F);
  teams.fill(b, 1.0F);
  teams.fill(c, 2.0F);
  const nodewise::loop_statistics done = teams.for_each_owned(
      nodewise::over(a, b, c), [](std::span<float> to, std::span<float> x, std::span<float> y) {
        for (std::size_t i = 0; i < to.size(); ++i) {
          to[i] += x[i] * y[i];
        }
      });
  std::printf("a  %s\nb  %s\nc  %s\n%s\n", a.strip().c_str(), b.strip().c_str(), c.strip().c_str(),
              to_string(done).c_str());
}
