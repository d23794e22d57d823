/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A library that is loaded while the program runs, and allocates while it is loaded and unloaded.
 */
#include "check.h"

static void* kept;

unsigned char* plugin_make(void);

__attribute__((constructor)) static void load(void) {
  kept = malloc(2 * large);
}
__attribute__((destructor)) static void unload(void) {
  free(kept);
}

unsigned char* plugin_make(void) {
  unsigned char* const p = calloc(1, 3 * large);
  CHECK(p != NULL);
  p[5] = 42;
  return p;
}
