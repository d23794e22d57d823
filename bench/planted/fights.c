/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Iterations in order: two threads take turns and wait for each other, one thread never waits. */
#include <stdio.h>

int main(void) {
  double x = 1;
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 2000000; ++i) {
#pragma omp ordered
    for (int j = 0; j < 16; ++j) {
      x = x * 0.999999 + 0.5;
    }
  }
  printf("%.6e\n", x);
  return 0;
}
