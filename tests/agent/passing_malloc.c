/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What tracers do: malloc and free that pass on to the next ones, and mremap() that makes the
 * system call. In front of the agent or behind it as a preloaded library, and linked into a
 * program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void* mremap(void* old, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* const address = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : NULL;
  va_end(rest);
  return (void*)syscall(SYS_mremap, old, old_bytes, bytes, flags, address);
}
