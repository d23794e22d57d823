// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the programs share: the loop that was published is a region of the lab's counter, and the
// program says how many bytes it has by STREAM's count (what the source names, and no line that is
// read only to be written). published/lab.py reads these lines. In C and in C++.
#ifndef NODEWISE_PUBLISHED_MEASURED_H
#define NODEWISE_PUBLISHED_MEASURED_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <nodewise/marker.h>

#include "../../examples/shared/command_line.h"

// Who touches the pages first: one thread; the threads that use them; threads in turn, page by
// page.
enum touch { touch_serial, touch_parallel, touch_pages };

// The word at a position; `last` is the last that the program knows.
static inline enum touch touch_at(const struct command_line* line, int position, enum touch last) {
  static const char* const names[] = {"serial", "parallel", "pages"};
  const char* text = text_at(line, position, "");
  for (int t = touch_serial; t <= (int)last; ++t) {
    if (strcmp(text, names[t]) == 0) {
      return (enum touch)t;
    }
  }
  refuse(line, text, "a first touch of this program");
}

static inline void say_bytes(const char* region, size_t bytes) {
  printf("%s: %zu bytes by STREAM's count\n", region, bytes);
}

#endif
