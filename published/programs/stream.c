// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The four loops of McCalpin's STREAM, written anew: RWTH, 'NUMA-aware OpenMP Programming'; the
// last one is also what likwid-bench calls `stream` (Pro TBB, chapter 20). Stores go through the
// caches. A region a loop; its first sweep is not in it: it fills the caches as those before fill
// them later.
//
// usage: stream serial|parallel [MiB an array] [sweeps]
#include "measured.h"

static const double scalar = 3.0;

static void touch_all(enum touch how, double* a, double* b, double* c, size_t n) {
  const int threads_share = how == touch_parallel;
#pragma omp parallel for schedule(static) if (threads_share)
  for (size_t i = 0; i < n; ++i) {
    a[i] = 1.0;
    b[i] = 2.0;
    c[i] = 0.0;
  }
}

static void copy(double* a, double* b, double* c, size_t n) {
  (void)b;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    c[i] = a[i];
  }
}

static void scale(double* a, double* b, double* c, size_t n) {
  (void)a;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    b[i] = scalar * c[i];
  }
}

static void add(double* a, double* b, double* c, size_t n) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    c[i] = a[i] + b[i];
  }
}

static void triad(double* a, double* b, double* c, size_t n) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    a[i] = b[i] + scalar * c[i];
  }
}

struct kernel {
  const char* name;
  size_t arrays;
  void (*run)(double*, double*, double*, size_t);
};
static const struct kernel kernels[] = {
    {"copy", 2, copy}, {"scale", 2, scale}, {"add", 3, add}, {"triad", 3, triad}};

int main(int argc, char** argv) {
  const struct command_line line = {"stream", "serial|parallel [MiB an array] [sweeps]", argc,
                                    argv};
  const enum touch how = touch_at(&line, 1, touch_parallel);
  const size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  const size_t n = bytes / sizeof(double);
  double* a = aligned_alloc(page_bytes, bytes);
  double* b = aligned_alloc(page_bytes, bytes);
  double* c = aligned_alloc(page_bytes, bytes);
  if (a == NULL || b == NULL || c == NULL) {
    return no_memory(&line, 3 * bytes);
  }
  touch_all(how, a, b, c, n);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k) {
    kernels[k].run(a, b, c, n);
    NODEWISE_MARKER_START(kernels[k].name);
    for (int s = 0; s < sweeps; ++s) {
      kernels[k].run(a, b, c, n);
    }
    NODEWISE_MARKER_STOP(kernels[k].name);
    say_bytes(kernels[k].name, kernels[k].arrays * bytes * (size_t)sweeps);
  }
  printf("a: %g to %g\n", a[0], a[n - 1]);
  free(c);
  free(b);
  free(a);
  return 0;
}
