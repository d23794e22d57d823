/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Asks the kernel whether an array's pages are in blocks on the nodes 0, 1, ..., one block a node.
 */
#ifndef NODEWISE_TESTS_AGENT_BLOCKS_H
#define NODEWISE_TESTS_AGENT_BLOCKS_H

#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

/* Prints "NAME PAGES SHARE": the whole pages inside the array, and how many percent of them are on
 * the node of their block. */
static inline void print_blocks(const char* name, void* start, size_t bytes, size_t nodes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = ((uintptr_t)start + page - 1) / page * page;
  const size_t pages = (((uintptr_t)start + bytes) / page * page - first) / page;
  size_t right = 0;
  for (size_t i = 0; i < pages; ++i) {
    void* const address = (void*)(first + i * page);
    int node = -1;
    CHECK(syscall(SYS_move_pages, 0, 1UL, &address, NULL, &node, 0) == 0);
    right += node >= 0 && (size_t)node == i * nodes / pages;
  }
  printf("%s %zu %.2f\n", name, pages, 100.0 * (double)right / (double)pages);
  fflush(stdout);
}

#endif
