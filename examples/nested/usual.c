// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nested: an outer team with one thread a node, each with an array of its own and an inner team to
// work on it. Here the clauses are the wrong way round: the outer threads sit close together, on
// the first nodes, and fill their arrays there; each inner team spreads over the whole machine.
//
// Remote share of the use phase: 1/2, on 2 nodes of 4 processors and on 4 nodes of 2. On the latter
// the second thread of every team is on one and the same processor, too.
//
// With OMP_PLACES=cores the clauses fix every thread's place, so this is the same in every run.
// Without clauses it hangs on OMP_PROC_BIND, without places on the kernel's scheduler.
// Source: RWTH Aachen on NUMA-aware OpenMP, "Binding Nested OpenMP Programs on Hierarchical Memory
// Architectures"; for first touch, Hager and Wellein, section 8.1.1.
//
// usage: nested [teams] [threads a team] [MiB a team] [sweeps]
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"
#include "teams.h"

int main(int argc, char** argv) {
  const struct command_line line = {"nested", "[teams] [threads a team] [MiB a team] [sweeps]",
                                    argc, argv};
  const int teams = (int)number_at(&line, 1, nodes_with_processors(), 1024);
  const int threads = (int)number_at(&line, 2, processors_a_node(), 1024);
  const size_t bytes = bytes_at(&line, 3, 4);
  const int sweeps = sweeps_at(&line, 4);
  end_at(&line, 4);
  const size_t n = bytes / sizeof(double);
  int failed = 0;
  omp_set_max_active_levels(2);

  double sum = 0;
  const double start = omp_get_wtime();
#pragma omp parallel num_threads(teams) proc_bind(close) reduction(+ : sum) reduction(| : failed)
  {
    double* data = aligned_alloc(page_bytes, bytes); // made
    failed = data == NULL;
    for (size_t i = 0; i < n && !failed; ++i) {
      data[i] = 1.0; // touch
    }
    for (int sweep = 0; sweep < sweeps && !failed; ++sweep) {
#pragma omp parallel for num_threads(threads) proc_bind(spread) schedule(static) reduction(+ : sum)
      for (size_t i = 0; i < n; ++i) {
        data[i] += 1.0; // use
        sum += data[i];
      }
    }
    free(data);
  }
  if (failed) {
    return no_memory(&line, bytes * (size_t)teams);
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  return 0;
}
