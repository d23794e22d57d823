// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// jagged, as it is usually written: one thread asks for the rows, one by one, and all threads fill
// them, in parallel. But malloc writes a header before each row, and there are several rows on a
// page: the pages are touched before the fill.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.1.1, on first touch and the heap.
//
// usage: jagged [MiB] [sweeps]
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

enum { row_doubles = 80 }; // 640 bytes: six rows to a page

int main(int argc, char** argv) {
  const struct command_line line = {"jagged", "[MiB] [sweeps]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t n = bytes / (row_doubles * sizeof(double));
  double** rows = malloc(n * sizeof *rows);
  if (rows == NULL) {
    return no_memory(&line, bytes);
  }

  for (size_t row = 0; row < n; ++row) {
    rows[row] = malloc(row_doubles * sizeof **rows); // made, touch
    if (rows[row] == NULL) {
      exit(no_memory(&line, bytes));
    }
  }
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    for (size_t i = 0; i < row_doubles; ++i) {
      rows[row][i] = (double)(i % 4);
    }
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t row = 0; row < n; ++row) {
      for (size_t i = 0; i < row_doubles; ++i) {
        rows[row][i] += 1.0; // use
        sum += rows[row][i];
      }
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    free(rows[row]);
  }
  free(rows);
  return 0;
}
