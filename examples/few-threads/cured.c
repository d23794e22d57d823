// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// few-threads, cured: threads on all nodes touch the pages, in turn, and then leave the work to the
// few. Every memory controller serves its share. It pays where the few wait for their nodes'
// controllers, and the links between nodes have room.
//
// Remote share of the use phase: (n-1)/n, on purpose. Imbalance, the busiest node's traffic over
// the mean of all n nodes: 1. All threads (OMP_NUM_THREADS) take part in the first touch; numactl
// --interleave=all or `nodewise run --memory interleave` give the same from outside.
// Source: Hager and Wellein, chapter 8, problem 8.3.
//
// usage: few-threads-cured [threads] [MiB] [sweeps]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"few-threads-cured", "[threads] [MiB] [sweeps]", argc, argv};
  const int threads = (int)number_at(&line, 1, 1, 1024);
  const size_t bytes = bytes_at(&line, 2, 8);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  const size_t n = bytes / sizeof(double);
  double* data = aligned_alloc(page_bytes, bytes);
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

#pragma omp parallel for schedule(static, page_doubles) // all threads, a page each in turn
  for (size_t i = 0; i < n; ++i) {
    data[i] = (double)(i % 8);
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
