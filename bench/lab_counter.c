// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The triad over three arrays of 16 MiB, touched in parallel; prints the seconds of its sweeps.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 1 << 21, SWEEPS = 10 };

static double a[ELEMENTS];
static double b[ELEMENTS];
static double c[ELEMENTS];

int main(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < ELEMENTS; ++i) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  }
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ELEMENTS; ++i)
      a[i] = b[i] + 3.0 * c[i];
  }
  printf("%.6f\n", omp_get_wtime() - start);
  return a[ELEMENTS / 2] == 7.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
