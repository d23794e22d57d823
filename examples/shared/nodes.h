// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The NUMA nodes and their processors, from the kernel's files. The program that includes it
// defines _GNU_SOURCE first.
#ifndef NODEWISE_EXAMPLES_NODES_H
#define NODEWISE_EXAMPLES_NODES_H

#include <sched.h>
#include <stdio.h>

enum { most_nodes = 1024 };

// The processors of a node, from a list such as 0-3,8-11; how many they are, 0 for no such node.
static inline int processors_of(int node, cpu_set_t* set) {
  CPU_ZERO(set);
  char path[64];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
  FILE* file = fopen(path, "re");
  if (file == NULL) {
    return 0;
  }
  int first = 0;
  while (fscanf(file, "%d", &first) == 1) {
    int last = first;
    if (fscanf(file, "-%d", &last) != 1) {
      last = first;
    }
    for (int processor = first; processor <= last && processor < CPU_SETSIZE; ++processor) {
      CPU_SET((size_t)processor, set);
    }
    if (fgetc(file) != ',') {
      break;
    }
  }
  fclose(file);
  return CPU_COUNT(set);
}

#endif
