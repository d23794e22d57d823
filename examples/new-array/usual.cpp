// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// new-array, as it is usually written: `new particle[n]()` constructs every object with the one
// thread that calls it. All pages live on that thread's node.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.4.1, on arrays of objects.
//
// usage: new-array [MiB] [sweeps]
#include <cstddef>
#include <omp.h>

#include "../shared/command_line.h"
#include "../shared/no_memory.hpp"
#include "../shared/result.h"
#include "particle.hpp"

int main(int argc, char** argv) {
  const command_line line = {"new-array", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(particle);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("new-array: no memory; ask for fewer MiB\n");

  auto* particles = new particle[n](); // made, touch: one thread constructs all

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      particles[i].move(); // use
      sum += particles[i].x;
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  delete[] particles;
}
