// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How many teams and how many threads each, if the command line does not say.
#ifndef NODEWISE_EXAMPLES_TEAMS_H
#define NODEWISE_EXAMPLES_TEAMS_H

#include <omp.h>

#include "../shared/nodes.h"

static inline int nodes_with_processors(void) {
  int nodes = 0;
  cpu_set_t processors;
  for (int node = 0; node < most_nodes; ++node) {
    nodes += processors_of(node, &processors) > 0;
  }
  return nodes > 0 ? nodes : 1;
}

static inline int processors_a_node(void) {
  const int processors = omp_get_num_procs() / nodes_with_processors();
  return processors > 0 ? processors : 1;
}

#endif
