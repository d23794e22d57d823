/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Computes only: two threads take half as long as one. */
#include <stdio.h>

int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int part = 0; part < 256; ++part) {
    double x = part;
    for (int i = 0; i < 500000; ++i) {
      x = x * 0.999999 + 0.5;
    }
    sum += x;
  }
  printf("%.6e\n", sum);
  return 0;
}
