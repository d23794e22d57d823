/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * static_arrays NODES: touches its static arrays by one thread and prints where their pages are.
 */
#define _GNU_SOURCE
#include "blocks.h"

double exported[1 << 21];
static double hidden[1 << 21];
static char small[64 << 10];
extern double second_name[1 << 21] __attribute__((alias("exported")));
/* Its bytes are in the file, which is what its pages are read from. */
static double initialised[1 << 18] = {1};

static double* in_a_function(void) {
  static double local[3 << 18];
  return local;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const size_t nodes = strtoul(argv[1], NULL, 10);
  memset(seen(exported), 1, sizeof exported);
  memset(seen(hidden), 1, sizeof hidden);
  memset(seen(in_a_function()), 1, (3 << 18) * sizeof(double));
  memset(seen(small), 1, sizeof small);
  CHECK(((double*)seen(initialised))[0] == 1 && ((double*)seen(second_name))[0] != 0);
  print_blocks("exported", exported, sizeof exported, nodes);
  print_blocks("hidden", hidden, sizeof hidden, nodes);
  print_blocks("local", in_a_function(), (3 << 18) * sizeof(double), nodes);
  return 0;
}
