// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the C programs with Nodewise's library share and what is not their point.
#ifndef NODEWISE_EXAMPLES_LIBRARY_H
#define NODEWISE_EXAMPLES_LIBRARY_H

#include <nodewise.h>
#include <stdio.h>
#include <stdlib.h>

// What the library could not do ends the program with its one line, asked, answered, what to do,
// and status 1.
static inline void require(int failed) {
  if (failed != 0) {
    fprintf(stderr, "%s\n", nodewise_error());
    exit(1);
  }
}

#endif
