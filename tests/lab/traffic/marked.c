// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads an array so many times in each of two regions, after two serial passes of initialisation
// and with or without a word about their end.
//
// usage: marked [use]
#include <stdio.h>
#include <stdlib.h>

#include <nodewise/marker.h>

enum { ELEMENTS = 1 << 22 }; // 32 MiB: each thread's part is far larger than its caches

static double array[ELEMENTS] __attribute__((aligned(4096)));

static double sweep(void) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < ELEMENTS; ++i)
    sum += array[i];
  return sum;
}

int main(int argc, char** argv) {
  (void)argv;
  for (int pass = 1; pass <= 2; ++pass)
    for (int i = 0; i < ELEMENTS; ++i)
      array[i] = pass;
  if (argc > 1)
    NODEWISE_MARKER_USE();
  NODEWISE_MARKER_START("outer");
  double sum = sweep();
  NODEWISE_MARKER_START("inner");
  sum += sweep();
  sum += sweep();
  NODEWISE_MARKER_STOP("inner");
  sum += sweep();
  NODEWISE_MARKER_STOP("outer");
  printf("%g\n", sum);
  return 0;
}
