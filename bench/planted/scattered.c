/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Reads 256 MiB at random, each place after the one before: with small pages most reads miss the TLB. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { bytes = 256 << 20, words = bytes / sizeof(uint64_t), reads = 2000000 };

int main(void) {
  uint64_t* const at = malloc(bytes);
  if (!at) {
    return 1;
  }
  for (int64_t i = 0; i < words; i += 512) {
    at[i] = (uint64_t)i; /* the other words of the page are 0 */
  }
  uint64_t random = 1;
  uint64_t sum = 0;
  for (int i = 0; i < reads; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U + (sum & 1);
    sum += at[(random >> 33) % words];
  }
  printf("%llu\n", (unsigned long long)sum);
  free(at);
  return 0;
}
