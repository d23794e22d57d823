/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Parallel regions by every door that GCC's OpenMP has, also those of old programs. Prints "ok";
 * with `where` it prints where each thread of the team may run, with a number the nanoseconds that
 * an empty region takes.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "check.h"

enum { n = 1000, threads = 3 };

static const long sum = (long)n * (n - 1) / 2;

static void loops(void) {
  long found = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : found) schedule(static)
  for (int i = 0; i < n; ++i) {
    found += i;
  }
  CHECK(found == sum);
  found = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : found) schedule(dynamic, 7)
  for (int i = 0; i < n; ++i) {
    found += i;
  }
  CHECK(found == sum);
  found = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : found) schedule(monotonic : dynamic, 7)
  for (int i = 0; i < n; ++i) {
    found += i;
  }
  CHECK(found == sum);
  found = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : found) schedule(guided)
  for (int i = 0; i < n; ++i) {
    found += i;
  }
  CHECK(found == sum);
  found = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : found) schedule(runtime)
  for (int i = 0; i < n; ++i) {
    found += i;
  }
  CHECK(found == sum);
}

static void other_regions(void) {
  _Atomic int seen_threads = 0;
#pragma omp parallel num_threads(threads)
  ++seen_threads;
  CHECK(seen_threads == threads);
  _Atomic int sections = 0;
#pragma omp parallel sections num_threads(threads)
  {
    ++sections;
#pragma omp section
    ++sections;
  }
  CHECK(sections == 2);
  int tasks = 0;
#pragma omp parallel num_threads(threads) reduction(task, + : tasks)
  {
#pragma omp task in_reduction(+ : tasks)
    tasks += 1;
  }
  CHECK(tasks == threads);
}

/* What GCC before 4.9 generated. The caller runs its share of the body itself. */
bool GOMP_loop_static_next(long*, long*);
bool GOMP_loop_dynamic_next(long*, long*);
bool GOMP_loop_guided_next(long*, long*);
bool GOMP_loop_runtime_next(long*, long*);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
void GOMP_loop_end_nowait(void);
void GOMP_parallel_end(void);
void GOMP_parallel_start(void (*)(void*), void*, unsigned);
void GOMP_parallel_loop_static_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(void (*)(void*), void*, unsigned, long, long, long);
void GOMP_parallel_sections_start(void (*)(void*), void*, unsigned, unsigned);
/* And newer ones, called with what GCC would give them. */
void GOMP_parallel_loop_static(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_dynamic(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_guided(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_runtime(void (*)(void*), void*, unsigned, long, long, long, unsigned);
void GOMP_parallel_sections(void (*)(void*), void*, unsigned, unsigned, unsigned);

static _Atomic long total;
static bool (*next_part)(long*, long*);

static void add_parts(void* data) {
  CHECK(data == &total);
  long first = 0;
  long last = 0;
  while (next_part(&first, &last)) {
    for (long i = first; i < last; ++i) {
      total += i;
    }
  }
  GOMP_loop_end_nowait();
}
static void add_sections(void* data) {
  CHECK(data == &total);
  for (unsigned section = 0; (section = GOMP_sections_next()) != 0;) {
    total += section;
  }
  GOMP_sections_end_nowait();
}
static void add_one(void* data) {
  CHECK(data == &total);
  ++total;
}
static void expect(long value) {
  CHECK(total == value);
  total = 0;
}

static void old_doors(void) {
  GOMP_parallel_start(add_one, &total, threads);
  add_one(&total);
  GOMP_parallel_end();
  expect(threads);
  next_part = GOMP_loop_static_next;
  GOMP_parallel_loop_static_start(add_parts, &total, threads, 0, n, 1, 11);
  add_parts(&total);
  GOMP_parallel_end();
  expect(sum);
  next_part = GOMP_loop_dynamic_next;
  GOMP_parallel_loop_dynamic_start(add_parts, &total, threads, 0, n, 1, 11);
  add_parts(&total);
  GOMP_parallel_end();
  expect(sum);
  next_part = GOMP_loop_guided_next;
  GOMP_parallel_loop_guided_start(add_parts, &total, threads, 0, n, 1, 11);
  add_parts(&total);
  GOMP_parallel_end();
  expect(sum);
  next_part = GOMP_loop_runtime_next;
  GOMP_parallel_loop_runtime_start(add_parts, &total, threads, 0, n, 1);
  add_parts(&total);
  GOMP_parallel_end();
  expect(sum);
  GOMP_parallel_sections_start(add_sections, &total, threads, 10);
  add_sections(&total);
  GOMP_parallel_end();
  expect(55);
}

static void doors_by_name(void) {
  next_part = GOMP_loop_static_next;
  GOMP_parallel_loop_static(add_parts, &total, threads, 0, n, 1, 11, 0);
  expect(sum);
  next_part = GOMP_loop_dynamic_next;
  GOMP_parallel_loop_dynamic(add_parts, &total, threads, 0, n, 1, 11, 0);
  expect(sum);
  next_part = GOMP_loop_guided_next;
  GOMP_parallel_loop_guided(add_parts, &total, threads, 0, n, 1, 11, 0);
  expect(sum);
  next_part = GOMP_loop_runtime_next;
  GOMP_parallel_loop_runtime(add_parts, &total, threads, 0, n, 1, 0);
  expect(sum);
  GOMP_parallel_sections(add_sections, &total, threads, 10, 0);
  expect(55);
}

static void where(void) {
#pragma omp parallel num_threads(threads)
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < threads; ++i) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0);
#pragma omp ordered
    printf("%d %d\n", i, CPU_COUNT(&mine));
  }
}

/* Threads of inner teams are started anew for each region. */
static void nested(void) {
  omp_set_max_active_levels(2);
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp parallel num_threads(4)
      CHECK(omp_get_num_threads() == 4);
    }
  }
}

static double empty_region_ns(long repeats) {
  struct timespec begin;
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long i = 0; i < repeats; ++i) {
#pragma omp parallel
    __asm__ volatile("");
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
         (double)repeats;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "where") == 0) {
    where();
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "nested") == 0) {
    nested();
    return 0;
  }
  if (argc == 2) {
    (void)empty_region_ns(1000);
    printf("%.1f\n", empty_region_ns(strtol(argv[1], NULL, 10)));
    return 0;
  }
  loops();
  other_regions();
  old_doors();
  doors_by_name();
  puts("ok");
  return 0;
}
