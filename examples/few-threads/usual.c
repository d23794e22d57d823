// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// few-threads: a job with fewer threads than the machine has nodes, its first touch as one learns
// it: each thread's part is on its own node. All accesses are local, and the memory controllers of
// all other nodes are idle.
//
// Remote share of the use phase: 0. The measure is the imbalance, the busiest node's traffic over
// the mean of all n nodes: n/t with t threads, each on a node of its own (OMP_PROC_BIND=spread).
// Source: Hager and Wellein, chapter 8, problem 8.3.
//
// usage: few-threads [threads] [MiB] [sweeps]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"few-threads", "[threads] [MiB] [sweeps]", argc, argv};
  const int threads = (int)number_at(&line, 1, 1, 1024);
  const size_t bytes = bytes_at(&line, 2, 8);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  const size_t n = bytes / sizeof(double);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t i = 0; i < n; ++i) {
    data[i] = (double)(i % 8); // touch
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i]; // use
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
