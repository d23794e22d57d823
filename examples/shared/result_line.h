// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The line of result of programs whose threads are not OpenMP's, or not OpenMP's alone, and their
// clock. In C and in C++; in C the program that includes it defines _GNU_SOURCE first.
#ifndef NODEWISE_EXAMPLES_RESULT_LINE_H
#define NODEWISE_EXAMPLES_RESULT_LINE_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// How many threads, if the command line does not say: one for each processor of the machine, also
// where this thread is bound to one.
static inline int threads_at(const struct command_line* line, int position) {
  return (int)number_at(line, position, sysconf(_SC_NPROCESSORS_ONLN), 1024);
}

// As print_result, for threads that OpenMP does not know.
static inline void print_result_of(const struct command_line* line, double checksum, int threads,
                                   int sweeps, double elapsed) {
  printf("%s: checksum %.0f; %d threads, %d sweeps, %.4f s each\n", line->program, checksum,
         threads, sweeps, elapsed / sweeps);
}

#endif
