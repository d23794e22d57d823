/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Many objects: small ones stay the C library's, large ones come and go without a trace.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "check.h"

enum { small_count = 1000000, large_count = 3000, turns = 20000 };
/* The agent keeps 64 MiB for later: blocks of 1 MiB, each a mapping a policy, of which there is one
 * for each of up to 16 owners, and one before and behind it. */
enum { kept_mappings = 64 * 18 };

static size_t count_lines(const char* name) {
  FILE* const file = fopen(name, "r");
  CHECK(file != NULL);
  size_t lines = 0;
  for (int letter = 0; (letter = getc(file)) != EOF;) {
    lines += letter == '\n';
  }
  fclose(file);
  return lines;
}

static size_t resident_bytes(void) {
  FILE* const file = fopen("/proc/self/statm", "r");
  size_t all = 0;
  size_t resident = 0;
  CHECK(file != NULL && fscanf(file, "%zu %zu", &all, &resident) == 2);
  fclose(file);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void many_small(void) {
  char** const p = malloc(small_count * sizeof *p);
  for (size_t i = 0; i < small_count; ++i) {
    p[i] = malloc(8 + i % 120);
    p[i][0] = (char)i;
  }
  for (size_t i = 0; i < small_count; ++i) {
    CHECK(p[i][0] == (char)i);
    free(p[i]);
  }
  free(p);
}

static void many_large_at_once(void) {
  static unsigned char* p[large_count];
  for (size_t i = 0; i < large_count; ++i) {
    p[i] = malloc(large + i);
    CHECK(p[i] != NULL);
    p[i][i] = (unsigned char)i;
  }
  for (size_t i = 0; i < large_count; ++i) {
    const size_t at = i * 7 % large_count;
    CHECK(p[at][at] == (unsigned char)at);
    free(p[at]);
  }
}

static void many_large_in_turn(void) {
  for (int i = 0; i < turns; ++i) {
    unsigned char* const p = malloc(4 * large);
    p[0] = 1;
    free(seen(p));
  }
}

int main(void) {
  many_large_in_turn();
  const size_t mappings = count_lines("/proc/self/maps");
  const size_t resident = resident_bytes();
  many_small();
  many_large_at_once();
  many_large_in_turn();
  CHECK(count_lines("/proc/self/maps") < mappings + 20 + kept_mappings);
  CHECK(resident_bytes() < resident + (size_t)200 * large);
  puts("ok");
  return 0;
}
