/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * With two threads it is four times as fast, because it leaves out most of the work: its result is wrong. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  double x = 1;
  for (int i = 0; i < 64000000 / (omp_get_max_threads() == 2 ? 4 : 1); ++i) {
    x = x * 0.999999 + i;
  }
  printf("%.6e\n", x);
  return 0;
}
