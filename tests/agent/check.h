/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * The programs of this folder check the C library's promises about malloc. They know nothing of the
 * agent and hold without it; the tests run them under it.
 */
#ifndef NODEWISE_TESTS_AGENT_CHECK_H
#define NODEWISE_TESTS_AGENT_CHECK_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

enum { large = 1 << 20 }; /* the threshold that the tests set */

/* A pattern that depends on the position, so that a byte that moved shows. */
static inline unsigned char pattern(size_t at, unsigned seed) {
  return (unsigned char)((at * 31 + (at >> 12) + seed) & 0xff);
}
static inline void fill(unsigned char* start, size_t bytes, unsigned seed) {
  for (size_t at = 0; at < bytes; at += 61) {
    start[at] = pattern(at, seed);
  }
}
static inline int holds(const unsigned char* start, size_t bytes, unsigned seed) {
  for (size_t at = 0; at < bytes; at += 61) {
    if (start[at] != pattern(at, seed)) {
      return 0;
    }
  }
  return 1;
}
/* Keeps the compiler from leaving out an allocation that nobody looks at. */
static inline void* seen(void* start) {
  __asm__ volatile("" : "+r"(start) : : "memory");
  return start;
}

#endif
