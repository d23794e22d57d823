// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An array that one thread fills and all read: each thread takes pieces of a sixteenth of a page, in
// turn or whoever comes first.
//
// usage: shared turn|dynamic [sweeps]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 1 << 20, PIECE = 32 }; // 8 MiB

static double array[ELEMENTS] __attribute__((aligned(4096)));

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "turn";
  const int sweeps = argc > 2 ? atoi(argv[2]) : 2;
  for (int i = 0; i < ELEMENTS; ++i)
    array[i] = i;
  omp_set_schedule(strcmp(how, "dynamic") == 0 ? omp_sched_dynamic : omp_sched_static, PIECE);
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < ELEMENTS; ++i)
      sum += array[i]; // the use
  }
  printf("%g\n", sum);
  return 0;
}
