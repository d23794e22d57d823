// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sparse-matrix, cured: the threads that multiply a row build it, so all arrays are placed by the
// owner of the row. Where rows begin must be known before: one thread counts, in pages that others
// have touched.
//
// Remote share of the use phase: 0, but for a few pages where blocks of rows meet.
// Source: Hager and Wellein, section 8.2, on sparse matrix-vector multiplication.
//
// usage: sparse-matrix-cured [rows] [sweeps]
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const struct command_line line = {"sparse-matrix-cured", "[rows] [sweeps]", argc, argv};
  const size_t n = 16 + (size_t)number_at(&line, 1, 131072, 1L << 26);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t entries = entries_of(n);
  struct matrix a = {.rows = n};
  a.row_ptr = malloc((n + 1) * sizeof *a.row_ptr); // made: row_ptr
  a.col_idx = malloc(entries * sizeof *a.col_idx); // made: col_idx
  a.val = malloc(entries * sizeof *a.val);         // made: val
  double* x = malloc(n * sizeof *x);               // made: x
  double* y = malloc(n * sizeof *y);               // made: y
  if (a.row_ptr == NULL || a.col_idx == NULL || a.val == NULL || x == NULL || y == NULL) {
    return no_memory(&line, entries * 12);
  }

#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    a.row_ptr[row] = 0;
  }
  a.row_ptr[0] = 0;
  for (size_t row = 0; row < n; ++row) {
    a.row_ptr[row + 1] = a.row_ptr[row] + row_length(row, n);
  }
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    fill_row(&a, row);
    x[row] = (double)(row % 4);
    y[row] = 0.0;
  }

  NODEWISE_MARKER_USE();
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    multiply(&a, x, y);
  }
  const double elapsed = omp_get_wtime() - start;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t row = 0; row < n; ++row) {
    sum += y[row];
  }
  print_result(&line, sum, sweeps, elapsed);
  free(y);
  free(x);
  free(a.val);
  free(a.col_idx);
  free(a.row_ptr);
  return 0;
}
