/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * rows BYTES COUNT    two arrays of COUNT rows of BYTES, each row an allocation of its own, filled
 * by the main thread before another thread starts
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static size_t row_bytes;
static size_t count;

static char** make(void) {
  char** const row = malloc(count * sizeof *row);
  CHECK(row != NULL);
  for (size_t i = 0; i < count; ++i) {
    row[i] = malloc(row_bytes);
    CHECK(row[i] != NULL);
    memset(row[i], 1, row_bytes);
  }
  return row;
}

static void* sum(void* of) {
  char** const row = of;
  size_t all = 0;
  for (size_t i = 0; i < count; ++i) {
    all += (size_t)row[i][row_bytes - 1];
  }
  CHECK(all == count);
  return NULL;
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  row_bytes = strtoul(argv[1], NULL, 10);
  count = strtoul(argv[2], NULL, 10);
  char** const arrays[] = {make(), make()};
  for (size_t which = 0; which < 2; ++which) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, sum, arrays[which]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    for (size_t i = 0; i < count; ++i) {
      free(arrays[which][i]);
    }
    free(arrays[which]);
  }
  return 0;
}
