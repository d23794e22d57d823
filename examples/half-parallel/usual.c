// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// half-parallel, as it is usually met: one matrix is initialised in parallel, but the other one,
// which the same loop uses, is not.
//
// Remote share of the use phase, with n nodes: (n-1)/n of b, 0 of a, together (n-1)/2n.
// Source: Hager and Wellein, section 8.1.1; RWTH Aachen, NUMA-aware OpenMP Programming.
//
// usage: half-parallel [MiB a matrix] [sweeps]
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"half-parallel", "[MiB a matrix] [sweeps]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t n = bytes / sizeof(double);
  double* a = aligned_alloc(page_bytes, bytes);
  double* b = aligned_alloc(page_bytes, bytes); // made
  if (a == NULL || b == NULL) {
    return no_memory(&line, 2 * bytes);
  }

#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    a[i] = 1.0;
  }
  for (size_t i = 0; i < n; ++i) {
    b[i] = (double)(i % 4); // touch
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      a[i] += b[i]; // use
      sum += a[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(b);
  free(a);
  return 0;
}
