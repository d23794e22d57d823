// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// triangular, half cured: the rows are dealt out in small chunks, so every thread has short ones
// and long ones. But they were touched in blocks, as before: the work is balanced and the data is
// not.
//
// Remote share of the use phase, with n nodes: (n-1)/n. Imbalance of the threads: near 1; of the
// nodes' traffic: (2n-1)/n, as in the usual form.
// Source: Hager and Wellein, chapter 8, problem 8.4.
//
// usage: triangular-misplaced [rows] [sweeps] [rows per chunk]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const struct command_line line = {"triangular-misplaced", "[rows] [sweeps] [rows per chunk]",
                                    argc, argv};
  const size_t n = (size_t)number_at(&line, 1, 1024, 1L << 20);
  const int sweeps = sweeps_at(&line, 2);
  const int chunk = (int)number_at(&line, 3, 4, 1L << 20);
  end_at(&line, 3);
  const size_t stride = row_stride(n);
  double* a = aligned_alloc(page_bytes, n * stride * sizeof(double)); // made
  double* x = aligned_alloc(page_bytes, stride * sizeof(double));
  if (a == NULL || x == NULL) {
    return no_memory(&line, (n + 1) * stride * sizeof(double));
  }
  fill_vector(x, n);

#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    touch_row(a, stride, row); // touch
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
