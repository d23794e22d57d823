// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Hager and Wellein, figures 8.4 and 8.7: the vector triad a[i] = b[i] + c[i] * d[i], by how its
// pages were touched and in which chunks it runs.
// Region `loop`. The first sweep is not in it: it fills the caches as those before fill them later.
//
// usage: vector-triad serial|parallel|pages [MiB an array] [sweeps] [doubles a chunk]
#include "measured.h"

struct arrays {
  size_t n;
  double *a, *b, *c, *d;
};

static void touch(struct arrays of, size_t i) {
  of.a[i] = 0.0;
  of.b[i] = 1.0;
  of.c[i] = 2.0;
  of.d[i] = 3.0;
}

static void touch_all(enum touch how, struct arrays of) {
  if (how == touch_pages) {
#pragma omp parallel for schedule(static, page_doubles)
    for (size_t i = 0; i < of.n; ++i) {
      touch(of, i);
    }
    return;
  }
  const int threads_share = how == touch_parallel;
#pragma omp parallel for schedule(static) if (threads_share)
  for (size_t i = 0; i < of.n; ++i) {
    touch(of, i);
  }
}

static void sweep(struct arrays of, size_t chunk) {
  if (chunk == 0) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < of.n; ++i) {
      of.a[i] = of.b[i] + of.c[i] * of.d[i];
    }
    return;
  }
#pragma omp parallel for schedule(static, chunk)
  for (size_t i = 0; i < of.n; ++i) {
    of.a[i] = of.b[i] + of.c[i] * of.d[i];
  }
}

int main(int argc, char** argv) {
  const struct command_line line = {
      "vector-triad", "serial|parallel|pages [MiB an array] [sweeps] [doubles a chunk]", argc,
      argv};
  const enum touch how = touch_at(&line, 1, touch_pages);
  const size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  const size_t chunk =
      text_at(&line, 4, NULL) == NULL ? 0 : (size_t)number_at(&line, 4, 1, 1L << 30);
  end_at(&line, 4);
  double* all = aligned_alloc(page_bytes, 4 * bytes);
  if (all == NULL) {
    return no_memory(&line, 4 * bytes);
  }
  const size_t n = bytes / sizeof(double);
  const struct arrays of = {n, all, all + n, all + 2 * n, all + 3 * n};
  touch_all(how, of);
  sweep(of, chunk);
  NODEWISE_MARKER_START("loop");
  for (int s = 0; s < sweeps; ++s) {
    sweep(of, chunk);
  }
  NODEWISE_MARKER_STOP("loop");
  say_bytes("loop", 4 * bytes * (size_t)sweeps);
  printf("a: %g to %g\n", of.a[0], of.a[n - 1]);
  free(all);
  return 0;
}
