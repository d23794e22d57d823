/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A library whose handlers of fork() allocate, before it and after it on both sides.
 */
#include <pthread.h>

#include "check.h"

static void allocate(void) {
  unsigned char* const block = seen(malloc(large));
  CHECK(block != NULL);
  fill(block, large, 1);
  for (int i = 0; i < 100; ++i) {
    free(seen(malloc(300)));
  }
  free(block);
}

__attribute__((constructor)) static void register_handlers(void) {
  CHECK(pthread_atfork(allocate, allocate, allocate) == 0);
}
