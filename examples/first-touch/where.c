// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "where.h"

#include <errno.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { max_nodes = 1024, batch = 1024 };

struct counts {
  size_t pages;
  size_t at_home; // on the node of the thread that uses them
  size_t on_node[max_nodes];
};

static unsigned my_node(void) {
  unsigned cpu = 0;
  unsigned node = 0;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return node;
}

// Whole pages from `first` up to `last`; a page that two threads share counts for the first.
static int count(struct counts* into, uintptr_t first, uintptr_t last, unsigned home) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void* pages[batch];
  int status[batch];
  first = (first + page - 1) / page * page;
  while (first < last) {
    size_t n = 0;
    for (; n < batch && first < last; ++n, first += page) {
      pages[n] = (void*)first;
    }
    if (syscall(SYS_move_pages, 0, n, pages, NULL, status, 0) != 0) {
      return errno;
    }
    for (size_t i = 0; i < n; ++i) {
      ++into->pages;
      if (status[i] >= 0 && status[i] < max_nodes) {
        ++into->on_node[status[i]];
        into->at_home += (unsigned)status[i] == home;
      }
    }
  }
  return 0;
}

// The part of schedule(static) that this thread gets: asked of the runtime, not computed.
static void my_part(size_t elements, size_t* first, size_t* last) {
  *first = SIZE_MAX;
  *last = 0;
#pragma omp for schedule(static)
  for (size_t i = 0; i < elements; ++i) {
    if (*first == SIZE_MAX) {
      *first = i;
    }
    *last = i + 1;
  }
}

void print_where(const char* name, const void* array, size_t elements, size_t element_bytes) {
  struct counts all;
  memset(&all, 0, sizeof all);
  int failed = 0;
#pragma omp parallel
  {
    size_t first = 0;
    size_t last = 0;
    my_part(elements, &first, &last);
#pragma omp critical
    if (first < last) {
      const int mine = count(&all, (uintptr_t)array + first * element_bytes,
                             (uintptr_t)array + last * element_bytes, my_node());
      failed = mine != 0 ? mine : failed;
    }
  }
  if (failed != 0) {
    printf("%s: unavailable, move_pages answered: %s\n", name, strerror(failed));
    return;
  }
  printf("%s: %zu pages, %.1f %% on the node of the thread that uses them;", name, all.pages,
         all.pages == 0 ? 0.0 : 100.0 * (double)all.at_home / (double)all.pages);
  for (int node = 0; node < max_nodes; ++node) {
    if (all.on_node[node] != 0) {
      printf(" N%d=%zu", node, all.on_node[node]);
    }
  }
  printf("\n");
}
