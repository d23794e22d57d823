// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// triangular, cured: the rows are touched and used in the same small chunks. A chunk is whole rows,
// and a row is whole pages, so each page lives on the node of the thread that uses it.
//
// Remote share of the use phase: 0. Imbalance of threads and nodes: near 1, nearer with more rows.
// Source: Hager and Wellein, chapter 8, problem 8.4.
//
// usage: triangular-cured [rows] [sweeps] [rows per chunk]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const struct command_line line = {"triangular-cured", "[rows] [sweeps] [rows per chunk]", argc,
                                    argv};
  const size_t n = (size_t)number_at(&line, 1, 1024, 1L << 20);
  const int sweeps = sweeps_at(&line, 2);
  const int chunk = (int)number_at(&line, 3, 4, 1L << 20);
  end_at(&line, 3);
  const size_t stride = row_stride(n);
  double* a = aligned_alloc(page_bytes, n * stride * sizeof(double));
  double* x = aligned_alloc(page_bytes, stride * sizeof(double));
  if (a == NULL || x == NULL) {
    return no_memory(&line, (n + 1) * stride * sizeof(double));
  }
  fill_vector(x, n);

#pragma omp parallel for schedule(static, chunk)
  for (size_t row = 0; row < n; ++row) {
    touch_row(a, stride, row);
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static, chunk) reduction(+ : sum)
    for (size_t row = 0; row < n; ++row) {
      sum += row_times_vector(a, stride, row, x);
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(x);
  free(a);
  return 0;
}
