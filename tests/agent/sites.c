/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Sixteen places of a program ask for as many blocks each. Prints "LINES PAGES": in how many
 * different cache lines and pages, both modulo 64 as in caches and TLBs, the k-th blocks of all
 * places begin; of all k the fewest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { sites = 16, blocks = 64, block_bytes = 3000, sets = 64, line_bytes = 64 };

static char* block[sites][blocks];

/* A place of its own for each number. */
#define SITE(k)                                                                                    \
  static __attribute__((noinline)) void fill_##k(void) {                                           \
    for (int i = 0; i < blocks; i++) {                                                             \
      block[k][i] = malloc(block_bytes);                                                           \
      CHECK(block[k][i] != NULL);                                                                  \
    }                                                                                              \
  }                                                                                                \
  _Static_assert((k) < sites, "a place")

SITE(0);
SITE(1);
SITE(2);
SITE(3);
SITE(4);
SITE(5);
SITE(6);
SITE(7);
SITE(8);
SITE(9);
SITE(10);
SITE(11);
SITE(12);
SITE(13);
SITE(14);
SITE(15);

static int different(int of, uintptr_t unit) {
  int seen[sets] = {0};
  int count = 0;
  for (int k = 0; k < sites; k++) {
    const uintptr_t at = (uintptr_t)block[k][of] / unit % sets;
    count += seen[at] == 0;
    seen[at] = 1;
  }
  return count;
}

int main(void) {
  static void (*const fill[sites])(void) = {fill_0,  fill_1,  fill_2,  fill_3, fill_4,  fill_5,
                                            fill_6,  fill_7,  fill_8,  fill_9, fill_10, fill_11,
                                            fill_12, fill_13, fill_14, fill_15};
  for (int k = 0; k < sites; k++) {
    fill[k]();
  }
  int lines = sites;
  int pages = sites;
  for (int i = blocks / 2; i < blocks; i++) { /* the first ones are the C library's */
    const int of_lines = different(i, line_bytes);
    const int of_pages = different(i, (uintptr_t)sysconf(_SC_PAGESIZE));
    lines = of_lines < lines ? of_lines : lines;
    pages = of_pages < pages ? of_pages : pages;
  }
  printf("%d %d\n", lines, pages);
  return 0;
}
