// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const size_t n = (size_t)1 << 21;
  double* array = malloc(n * sizeof *array); // the array
  double sum = 0;
  if (array == NULL)
    return 1;
  for (size_t i = 0; i < n; ++i)
    array[i] = (double)i;
  for (int sweep = 0; sweep < 3; ++sweep) {
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < n; ++i)
      sum += array[i]; // the loop
  }
  printf("%g\n", sum);
  free(array);
  return 0;
}
