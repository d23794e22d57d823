/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Reads one line of each page of 64 MiB at random, each after the one before: the lines fit into
 * the caches, but with small pages most reads miss the TLB. Prints the time of the reads alone:
 * what a page costs when it is first touched may be the host's. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { bytes = 64 << 20, page_words = 512, pages = bytes / 8 / page_words, reads = 16000000 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(void) {
  uint64_t* const at = malloc(bytes);
  if (!at) {
    return 1;
  }
  for (int64_t i = 0; i < pages; ++i) {
    at[i * page_words + i % 64 * 8] = (uint64_t)i; /* the other words of the page are 0 */
  }
  uint64_t random = 1;
  uint64_t sum = 0;
  const double start = now();
  for (int i = 0; i < reads; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U + (sum & 1);
    const uint64_t page = (random >> 33) % pages;
    sum += at[page * page_words + page % 64 * 8];
  }
  printf("%llu, reads: %.6f s\n", (unsigned long long)sum, now() - start);
  free(at);
  return 0;
}
