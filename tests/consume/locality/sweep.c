// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sweep serial|parallel: an array that is larger than the caches of all nodes is filled by one
// thread or by all threads, and then summed by all.
#include <stdio.h>
#include <string.h>

enum { elements = 2 << 20, sweeps = 2 };
static double a[elements];

int main(int argc, char** argv) {
  const int parallel = argc > 1 && strcmp(argv[1], "parallel") == 0;
#pragma omp parallel for if (parallel)
  for (int i = 0; i < elements; ++i) {
    a[i] = 1;
  }
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < elements; ++i) {
      sum += a[i];
    }
  }
  printf("%.0f\n", sum);
  return sum == (double)elements * sweeps ? 0 : 1;
}
