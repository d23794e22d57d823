/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Calls doors of the OpenMP library that openmp_stub.c stands for. With a number it prints the
 * nanoseconds of a call that does nothing.
 */
#include <time.h>

#include "check.h"

void __kmpc_fork_call(void* where, int count, void* body, ...);
void __kmpc_fork_teams(void* where, int count, void* body, ...);
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);

#define PAIRS                                                                                      \
  100L, 0.5, 101L, 1.5, 102L, 2.5, 103L, 3.5, 104L, 4.5, 105L, 5.5, 106L, 6.5, 107L, 7.5, 108L,    \
      8.5, 109L, 9.5

static void count_up(void* data) {
  ++*(long*)data;
}

static double call_ns(long repeats) {
  struct timespec begin;
  struct timespec end;
  long count = 0;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  for (long i = 0; i < repeats; ++i) {
    GOMP_parallel(count_up, &count, 5, 6);
  }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  CHECK(count == repeats);
  return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
         (double)repeats;
}

int main(int argc, char** argv) {
  if (argc == 2) {
    printf("%.2f\n", call_ns(strtol(argv[1], NULL, 10)));
    return 0;
  }
  for (int i = 0; i < 3; ++i) {
    __kmpc_fork_call((void*)1, 10, (void*)3, PAIRS);
    __kmpc_fork_teams((void*)1, 10, (void*)3, PAIRS);
    __kmpc_fork_call((void*)1, 0, (void*)3);
  }
  CHECK(call_ns(10) >= 0);
  puts("ok");
  return 0;
}
