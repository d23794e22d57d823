/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of `nodewise measure` are measured against: the four loops of STREAM (McCalpin,
 * 1995) and three more as anybody would write them, and a chase of pointers as lmbench's lat_mem_rd
 * (McVoy and Staelin, 1996) has it, all left to the compiler. Written anew; prints JSON. usage:
 * stream_peer LOOP|chase BYTES base|huge SWEEPS, threads by OMP_NUM_THREADS */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { huge_bytes = 2 << 20, stagger_bytes = 17 * 64, steps = 200000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char* map_pages(size_t bytes, int huge) {
  size_t whole = (bytes / huge_bytes + 2) * huge_bytes;
  char* start = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED || madvise(start, whole, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0)
    exit(1);
  return start + (huge_bytes - (uintptr_t)start % huge_bytes) % huge_bytes;
}

static int by_size(const void* x, const void* y) {
  double a = *(const double*)x, b = *(const double*)y;
  return (a > b) - (a < b);
}

static double *a, *b, *c, *d;
static double scalar = 3;
static double result;
static size_t n;

static void load_loop(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (size_t i = 0; i < n; i++)
    sum += a[i];
  result = sum;
}
static void store_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = scalar;
}
static void copy_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = b[i];
}
static void update_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = -scalar / 3 * a[i];
}
static void scale_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = scalar * b[i];
}
static void add_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = b[i] + c[i];
}
static void triad_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = b[i] + scalar * c[i];
}
static void schoenauer_loop(void) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++)
    a[i] = b[i] + c[i] * d[i];
}

static const struct {
  const char* name;
  void (*run)(void);
  unsigned arrays, streams;
} loops[] = {
    {"sum", load_loop, 1, 1},    {"store", store_loop, 1, 1},
    {"copy", copy_loop, 2, 2},   {"update", update_loop, 1, 2},
    {"scale", scale_loop, 2, 2}, {"add", add_loop, 3, 3},
    {"triad", triad_loop, 3, 3}, {"schoenauer", schoenauer_loop, 4, 4},
};

static int run_loop(unsigned which, size_t bytes, int huge, unsigned sweeps) {
  double** arrays[] = {&a, &b, &c, &d};
  double* seconds = malloc(sweeps * sizeof *seconds);
  unsigned count = loops[which].arrays;
  n = bytes / count / 64 * 8;
  size_t pages = (n * sizeof(double) / 4096 + 1) * 4096 + stagger_bytes;
  char* start = map_pages(pages * count, huge);
  for (unsigned k = 0; k < count; k++) {
    double* array = *arrays[k] = (double*)(start + k * pages);
#pragma omp parallel for
    for (size_t i = 0; i < n; i++)
      array[i] = (double)(i % 1000 + k);
  }
  double begin = now();
  for (unsigned sweep = 0; sweep < sweeps; sweep++)
    loops[which].run();
  double whole = now() - begin;
  for (unsigned sweep = 0; sweep < sweeps; sweep++) {
    double at = now();
    loops[which].run();
    seconds[sweep] = now() - at;
  }
  qsort(seconds, sweeps, sizeof *seconds, by_size);
  double gigabytes = 1e-9 * 8 * (double)n * loops[which].streams;
  printf("{\"kernel\": \"%s\", \"threads\": %d, \"bytes\": %zu, \"pages\": \"%s\", "
         "\"whole_gb_per_s\": %.4f, "
         "\"best_gb_per_s\": %.4f, \"median_gb_per_s\": %.4f, \"check\": %g}\n",
         loops[which].name, omp_get_max_threads(), n * 8 * count, huge ? "huge" : "base",
         gigabytes * sweeps / whole, gigabytes / seconds[0], gigabytes / seconds[sweeps / 2],
         a[n / 2] + result);
  return 0;
}

#define FOLLOW p = (char**)*p;
#define FOLLOW_10 FOLLOW FOLLOW FOLLOW FOLLOW FOLLOW FOLLOW FOLLOW FOLLOW FOLLOW FOLLOW
#define FOLLOW_100                                                                                 \
  FOLLOW_10 FOLLOW_10 FOLLOW_10 FOLLOW_10 FOLLOW_10 FOLLOW_10 FOLLOW_10 FOLLOW_10 FOLLOW_10        \
      FOLLOW_10

static int run_chase(size_t bytes, int huge, unsigned sweeps) {
  size_t lines = bytes / 64;
  char* start = map_pages(bytes, huge);
  size_t* order = malloc(lines * sizeof *order);
  double* ns = malloc(sweeps * sizeof *ns);
  /* The lines in a random order (Fisher and Yates), each linked to the one after. */
  uint64_t state = (uint64_t)(now() * 1e9) | 1;
  for (size_t i = 0; i < lines; i++)
    order[i] = i;
  for (size_t i = lines - 1; i > 0; i--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t j = (size_t)(((unsigned __int128)state * (i + 1)) >> 64);
    size_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (size_t i = 0; i < lines; i++)
    *(char**)(start + order[i] * 64) = start + order[i + 1 == lines ? 0 : i + 1] * 64;
  free(order);
  char** p = (char**)start;
  for (unsigned sweep = 0; sweep <= sweeps; sweep++) {
    double at = now();
    for (int i = 0; i < steps / 100; i++) {
      FOLLOW_100
    }
    if (sweep > 0)
      ns[sweep - 1] = (now() - at) / steps * 1e9;
  }
  qsort(ns, sweeps, sizeof *ns, by_size);
  printf("{\"kernel\": \"chase\", \"threads\": 1, \"bytes\": %zu, \"pages\": \"%s\", \"best_ns\": "
         "%.3f, "
         "\"median_ns\": %.3f, \"check\": %d}\n",
         bytes, huge ? "huge" : "base", ns[0], ns[sweeps / 2], p != NULL);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5)
    return 2;
  size_t bytes = strtoull(argv[2], NULL, 10);
  int huge = strcmp(argv[3], "huge") == 0;
  unsigned sweeps = (unsigned)strtoul(argv[4], NULL, 10);
  if (bytes < 4096 || sweeps == 0)
    return 2;
  if (strcmp(argv[1], "chase") == 0)
    return run_chase(bytes, huge, sweeps);
  for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++)
    if (strcmp(argv[1], loops[i].name) == 0)
      return run_loop(i, bytes, huge, sweeps);
  return 2;
}
