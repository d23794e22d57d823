/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in that may find the C library's own functions where its host finds those of others.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void plugin_free(void* block) {
  free(block);
}
void* plugin_realloc(void* block, size_t bytes) {
  return realloc(block, bytes);
}
size_t plugin_usable(void* block) {
  return malloc_usable_size(block);
}
void* plugin_malloc(size_t bytes) {
  return malloc(bytes);
}

static void* work(void* result) {
  for (size_t bytes = 100; bytes < (size_t)1 << 20; bytes *= 3) {
    char* block = malloc(bytes);
    if (block == NULL) {
      return NULL;
    }
    memset(block, 1, bytes);
    block = realloc(block, 2 * bytes);
    if (block == NULL || block[bytes - 1] != 1) {
      return NULL;
    }
    free(block);
  }
  return result;
}

/* Whether memory and threads of the C library that it has are as they should be. */
int plugin_works(void) {
  enum { threads = 4 };
  pthread_t thread[threads];
  int right = 0;
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&thread[i], NULL, work, thread) != 0) {
      return 0;
    }
  }
  for (int i = 0; i < threads; ++i) {
    void* result = NULL;
    right += pthread_join(thread[i], &result) == 0 && result != NULL;
  }
  return right == threads;
}

void plugin_leave(int status) {
  exit(status);
}
