// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// HLRS, 'NEC Cluster NUMA Tuning': a[i] += b[i] * c[i] over three arrays of floats.
// Region `loop`. The first sweep is not in it: it fills the caches as those before fill them later.
//
// usage: float-loop serial|parallel [MiB an array] [sweeps]
#include "measured.h"

static void touch_all(enum touch how, float* a, float* b, float* c, size_t n) {
  const int threads_share = how == touch_parallel;
#pragma omp parallel for schedule(static) if (threads_share)
  for (size_t i = 0; i < n; ++i) {
    a[i] = 0.0F;
    b[i] = 1.0F;
    c[i] = 2.0F;
  }
}

static void sweep(float* a, const float* b, const float* c, size_t n) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    a[i] += b[i] * c[i];
  }
}

int main(int argc, char** argv) {
  const struct command_line line = {"float-loop", "serial|parallel [MiB an array] [sweeps]", argc,
                                    argv};
  const enum touch how = touch_at(&line, 1, touch_parallel);
  const size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  const size_t n = bytes / sizeof(float);
  float* a = aligned_alloc(page_bytes, bytes);
  float* b = aligned_alloc(page_bytes, bytes);
  float* c = aligned_alloc(page_bytes, bytes);
  if (a == NULL || b == NULL || c == NULL) {
    return no_memory(&line, 3 * bytes);
  }
  touch_all(how, a, b, c, n);
  sweep(a, b, c, n);
  NODEWISE_MARKER_START("loop");
  for (int s = 0; s < sweeps; ++s) {
    sweep(a, b, c, n);
  }
  NODEWISE_MARKER_STOP("loop");
  say_bytes("loop", 4 * bytes * (size_t)sweeps);
  printf("a: %g to %g\n", (double)a[0], (double)a[n - 1]);
  free(c);
  free(b);
  free(a);
  return 0;
}
