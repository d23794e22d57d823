// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// process-per-node: one big process for the whole machine. Its main thread fills the array, so
// every page lives on that thread's node, and the threads of all other nodes work on far memory.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.1.2, on locality by other means than first touch; it is how
// hybrid MPI and OpenMP programs are started.
//
// As part k of p it works on the k-th of p equal pieces only: what cured.c starts it for.
//
// usage: process-per-node [MiB] [sweeps] [part, from 1] [parts]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"process-per-node", "[MiB] [sweeps] [part, from 1] [parts]",
                                    argc, argv};
  const size_t all = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  const size_t parts = (size_t)number_at(&line, 4, 1, 1024);
  const size_t part = (size_t)number_at(&line, 3, 1, (long)parts) - 1;
  end_at(&line, 4);
  const size_t first = all * part / parts;
  const size_t n = all * (part + 1) / parts - first;
  double* data = aligned_alloc(page_bytes, n * sizeof *data); // made
  if (data == NULL) {
    return no_memory(&line, n * sizeof *data);
  }

  for (size_t i = 0; i < n; ++i) {
    data[i] = (double)((first + i) % 8); // touch
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i]; // use
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
