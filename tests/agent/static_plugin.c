/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A library with a static array, loaded while the program runs. Built with OpenMP it also enters a
 * parallel region of its own, by a runtime that the program does not know of.
 */
#define _GNU_SOURCE
#include "blocks.h"

double plugin_field[1 << 21];

int plugin_threads(void);
void plugin_touch(size_t nodes);

/* Half of the pages are in memory before anybody can have placed them. */
__attribute__((constructor)) static void load(void) {
  memset(seen(plugin_field), 1, sizeof plugin_field / 2);
}

int plugin_threads(void) {
  int threads = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads += 1;
#endif
  return threads;
}

void plugin_touch(size_t nodes) {
  memset(seen(plugin_field), 1, sizeof plugin_field);
  print_blocks("plugin_field", plugin_field, sizeof plugin_field, nodes);
}
