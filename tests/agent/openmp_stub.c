/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Stands for an OpenMP library: tells what arrived in a variadic door, of every class of argument.
 */
#include <stdarg.h>

#include "check.h"

void __kmpc_fork_call(void* where, int count, void* body, ...);
void __kmpc_fork_teams(void* where, int count, void* body, ...);
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);

static void check_all(void* where, int count, void* body, va_list rest) {
  CHECK(where == (void*)1 && body == (void*)3);
  for (int i = 0; i < count; ++i) {
    CHECK(va_arg(rest, long) == 100 + i);
    CHECK(va_arg(rest, double) == 0.5 + i);
  }
}

void __kmpc_fork_call(void* where, int count, void* body, ...) {
  va_list rest;
  va_start(rest, body);
  check_all(where, count, body, rest);
  va_end(rest);
}

void __kmpc_fork_teams(void* where, int count, void* body, ...) {
  va_list rest;
  va_start(rest, body);
  check_all(where, count, body, rest);
  va_end(rest);
}

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  CHECK(threads == 5 && flags == 6);
  body(data);
}
