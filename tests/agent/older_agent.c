/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the library calls in an agent of an older version: it prints the sizes of regions.
 */
#include <stdio.h>

__attribute__((visibility("default"))) void nodewise_agent_region(void* start, size_t bytes);

void nodewise_agent_region(void* start, size_t bytes) {
  (void)start;
  fprintf(stderr, "%zu\n", bytes);
}
