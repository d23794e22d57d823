// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the kernels share. Each is built twice: as it is usually written, with one thread that
// initialises the arrays, and with CURED, where the loops marked FIRST_TOUCH are parallel.
#ifndef NODEWISE_EXAMPLES_KERNEL_H
#define NODEWISE_EXAMPLES_KERNEL_H

#include <math.h>
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

#ifdef CURED
#define FIRST_TOUCH _Pragma("omp parallel for schedule(static)")
#define NAME_OF(kernel) kernel "-cured"
#else
#define FIRST_TOUCH
#define NAME_OF(kernel) kernel
#endif

// Memory that begins with a page; ends the program where there is none.
static inline void* new_array(const struct command_line* line, size_t count, size_t element_bytes) {
  const size_t bytes = (count * element_bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* memory = aligned_alloc(page_bytes, bytes);
  if (memory == NULL) {
    exit(no_memory(line, bytes));
  }
  return memory;
}

// The exit status: 1, and a line that says so, unless the result is as exact as it must be. A
// result that is not a number is not exact.
static inline int verify(const struct command_line* line, const char* what, double found,
                         double most) {
  if (found <= most) {
    return 0;
  }
  fprintf(stderr, "%s: wrong: %s is %g, at most %g is right\n", line->program, what, found, most);
  return 1;
}

#endif
