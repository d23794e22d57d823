// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The line of result. In C and in C++.
#ifndef NODEWISE_EXAMPLES_RESULT_H
#define NODEWISE_EXAMPLES_RESULT_H

#include <omp.h>
#include <stdio.h>

#include "command_line.h"

// The one line of result. All forms of a program print the same checksum, a sum of whole numbers.
static inline void print_result(const struct command_line* line, double checksum, int sweeps,
                                double elapsed) {
  printf("%s: checksum %.0f; %d threads, %d sweeps, %.4f s each\n", line->program, checksum,
         omp_get_max_threads(), sweeps, elapsed / sweeps);
}

#endif
