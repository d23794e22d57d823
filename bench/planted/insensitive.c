/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * One thread that computes: no setting matters. */
#include <stdio.h>

int main(void) {
  double x = 1;
  for (int i = 0; i < 128000000; ++i) {
    x = x * 0.999999 + 0.5;
  }
  printf("%.6e\n", x);
  return 0;
}
