// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the two forms of the program share and what is not their point.
#ifndef NODEWISE_EXAMPLES_ARGUMENTS_H
#define NODEWISE_EXAMPLES_ARGUMENTS_H

#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct arguments {
  size_t elements; // floats per array
  int sweeps;
};

static inline long parse_number(const char* text, long most) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 1 || value > most) {
    fprintf(stderr,
            "first-touch: '%s' is not a number from 1 to %ld\n"
            "usage: first-touch [MiB per array] [sweeps]\n",
            text, most);
    exit(2);
  }
  return value;
}

static inline struct arguments parse_arguments(int argc, char** argv) {
  const long mib = argc > 1 ? parse_number(argv[1], 1L << 20) : 64;
  const long sweeps = argc > 2 ? parse_number(argv[2], 1000000) : 3;
  return (struct arguments){((size_t)mib << 20) / sizeof(float), (int)sweeps};
}

static inline double seconds(void) {
  return omp_get_wtime();
}

static inline void print_result(struct arguments arguments, double elapsed, float first,
                                float last) {
  printf("%d threads, %d sweeps over 3 x %zu MiB: %.4f s each (a: %g to %g)\n",
         omp_get_max_threads(), arguments.sweeps, arguments.elements * sizeof(float) >> 20,
         elapsed / arguments.sweeps, (double)first, (double)last);
}

#endif
