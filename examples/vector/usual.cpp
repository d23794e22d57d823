// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// vector, as it is usually written: std::vector's constructor writes a zero to every element, with
// the one thread that calls it. All pages live on that thread's node, however the loops run.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.4.2, on the Standard Template Library.
//
// usage: vector [MiB] [sweeps]
#include <cstddef>
#include <omp.h>
#include <vector>

#include "../shared/command_line.h"
#include "../shared/no_memory.hpp"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const command_line line = {"vector", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("vector: no memory; ask for fewer MiB\n");

  std::vector<double> v(n); // made, touch: one thread writes here

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      v[i] += static_cast<double>(i % 4); // use
      sum += v[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
}
