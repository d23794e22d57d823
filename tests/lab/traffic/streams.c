// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels whose traffic is known: so many bytes a sweep are read, so many written, nothing else of
// size is touched. Arrays are static and page-aligned, so an array begins with a line and a page.
//
// usage: streams copy|scale|add|triad|load|stream [sweeps [WHEN...]]
// WHEN the main thread checks all three arrays: before, between, after (the sweeps).
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { ELEMENTS = 1 << 21 }; // 16 MiB each

static double a[ELEMENTS] __attribute__((aligned(4096)));
static double b[ELEMENTS] __attribute__((aligned(4096)));
static double c[ELEMENTS] __attribute__((aligned(4096)));
static double sum;

#define SWEEP(...)                                                                                 \
  do {                                                                                             \
    _Pragma("omp parallel for schedule(static)") for (int i = 0; i < ELEMENTS; ++i) __VA_ARGS__;   \
  } while (0)

static void load(void) {
  double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int i = 0; i < ELEMENTS; ++i)
    total += a[i] + b[i];
  sum += total;
}

// Writes past the caches.
static void stream(void) {
#if defined(__x86_64__)
#pragma omp parallel for schedule(static)
  for (int i = 0; i < ELEMENTS; i += 2)
    _mm_stream_pd(&a[i], _mm_set1_pd(1.0));
#endif
}

// One thread alone reads everything.
static void check(const char* now, int argc, char** argv) {
  for (int i = 3; i < argc; ++i)
    if (strcmp(argv[i], now) == 0)
      for (int k = 0; k < ELEMENTS; ++k)
        sum += a[k] + b[k] + c[k];
}

int main(int argc, char** argv) {
  const char* kernel = argc > 1 ? argv[1] : "triad";
  const int sweeps = argc > 2 ? atoi(argv[2]) : 2;
  SWEEP(a[i] = 1.0, b[i] = 2.0, c[i] = 3.0);
  check("before", argc, argv);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (sweep > 0)
      check("between", argc, argv);
    if (strcmp(kernel, "copy") == 0)
      SWEEP(c[i] = a[i]);
    else if (strcmp(kernel, "scale") == 0)
      SWEEP(b[i] = 3.0 * c[i]);
    else if (strcmp(kernel, "add") == 0)
      SWEEP(c[i] = a[i] + b[i]);
    else if (strcmp(kernel, "triad") == 0)
      SWEEP(a[i] = b[i] + 3.0 * c[i]);
    else if (strcmp(kernel, "load") == 0)
      load();
    else if (strcmp(kernel, "stream") == 0)
      stream();
    else
      return 2;
  }
  check("after", argc, argv);
  printf("%s: %g\n", kernel, a[1] + b[1] + c[1] + sum);
  return 0;
}
