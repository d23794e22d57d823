// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// triangular, the sum of A x with a lower triangular A, as it is usually written: one block of rows
// a thread, touched by who uses them. All is local, but the last rows are the longest: the last
// thread works and fetches almost twice the mean, and so does the last node.
//
// Remote share of the use phase: 0. Imbalance, the busiest of k threads or nodes over the mean of
// all: (2k-1)/k in the limit of many rows, that is 1.88 for 8 threads, 1.75 for 4 nodes.
// Source: Hager and Wellein, chapter 8, problem 8.4.
//
// usage: triangular [rows] [sweeps]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const struct command_line line = {"triangular", "[rows] [sweeps]", argc, argv};
  const size_t n = (size_t)number_at(&line, 1, 1024, 1L << 20);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t stride = row_stride(n);
  double* a = aligned_alloc(page_bytes, n * stride * sizeof(double)); // made
  double* x = aligned_alloc(page_bytes, stride * sizeof(double));
  if (a == NULL || x == NULL) {
    return no_memory(&line, (n + 1) * stride * sizeof(double));
  }
  fill_vector(x, n);

#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    touch_row(a, stride, row);
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t row = 0; row < n; ++row) {
      sum += row_times_vector(a, stride, row, x);
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(x);
  free(a);
  return 0;
}
