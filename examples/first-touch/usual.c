// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// first-touch, as it is usually written: one thread fills the arrays, all threads work on them.
// A page lives where it was first written, so every page lives on the first thread's node.
//
// usage: first-touch [MiB per array] [sweeps]
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "where.h"

int main(int argc, char** argv) {
  const struct arguments arguments = parse_arguments(argc, argv);
  const size_t n = arguments.elements;
  float* a = malloc(n * sizeof *a); // made: a
  float* b = malloc(n * sizeof *b); // made: b
  float* c = malloc(n * sizeof *c); // made: c
  if (a == NULL || b == NULL || c == NULL) {
    fprintf(stderr, "first-touch: no memory for 3 x %zu floats; ask for fewer MiB\n", n);
    return 1;
  }

  for (size_t i = 0; i < n; ++i) {
    a[i] = 0.0F; // touch: a
    b[i] = 1.0F; // touch: b
    c[i] = 2.0F; // touch: c
  }

  const double start = seconds();
  for (int sweep = 0; sweep < arguments.sweeps; ++sweep) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; ++i) {
      a[i] += b[i] * c[i]; // use
    }
  }
  print_result(arguments, seconds() - start, a[0], a[n - 1]);

  print_where("a", a, n, sizeof *a);
  print_where("b", b, n, sizeof *b);
  print_where("c", c, n, sizeof *c);
  free(c);
  free(b);
  free(a);
  return 0;
}
