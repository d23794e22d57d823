// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// tasks, as it is usually written with OpenMP: one thread fills an array, and every sweep is cut
// into tasks that any thread may take.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.3.1, on dynamic scheduling and tasks.
//
// usage: tasks-omp [MiB] [sweeps]
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"
#include "pieces.h"

int main(int argc, char** argv) {
  const struct command_line line = {"tasks-omp", "[MiB] [sweeps]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t n = bytes / sizeof(double);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

  for (size_t i = 0; i < n; ++i) {
    data[i] = 0.0; // touch
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    add_one_in_tasks(data, 0, n, &sum);
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
