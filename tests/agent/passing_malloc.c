/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What tracers do: malloc and free that pass on to the next ones. In front of the agent as a
 * preloaded library, and linked into a program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

void* malloc(size_t bytes);
void free(void* start);

static _Atomic(void*) next_malloc;
static _Atomic(void*) next_free;

static void* next(_Atomic(void*)* kept, const char* name) {
  void* found = *kept;
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, name);
    *kept = found;
  }
  return found;
}

void* malloc(size_t bytes) {
  void* (*function)(size_t);
  void* const found = next(&next_malloc, "malloc");
  memcpy(&function, &found, sizeof function);
  return function(bytes);
}

void free(void* start) {
  void (*function)(void*);
  void* const found = next(&next_free, "free");
  memcpy(&function, &found, sizeof function);
  function(start);
}
