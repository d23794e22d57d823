// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "attribution.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodewise/marker.h"
#include "port.h"
#include "probe.h"

enum { PAGES_A_NODE = 8 };

static const char hint[] = "report this as a bug of the lab; --on-no-count runs without counting";

static void announce_processors(void) {
  cpu_set_t all;
  CPU_ZERO(&all);
  if (sched_getaffinity(0, sizeof all, &all) < 0)
    fail(errno, hint, "cannot read the list of processors");
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all))
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) < 0)
      fail(errno, hint, "cannot run on processor %zu", cpu);
    char text[24];
    snprintf(text, sizeof text, "%zu", cpu);
    nodewise_marker_text('k', text);
  }
  sched_setaffinity(0, sizeof all, &all);
}

static void announce_page(char* page) {
  *page = 1;
  int node = -1; // as Linux reports it; an error if negative
  if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) < 0)
    node = -errno;
  if (node < 0)
    fail(-node, hint, "cannot read the node of a page");
  char text[64];
  snprintf(text, sizeof text, "%d %lx", node, (unsigned long)page);
  nodewise_marker_text('n', text);
  (void)*(volatile char*)page;
}

static void announce_memory(int node) {
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = PAGES_A_NODE * page_bytes;
  const unsigned long mask = 1UL << node;
  char* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || syscall(SYS_mbind, pages, bytes, MPOL_BIND, &mask, 65UL, 0U) < 0)
    fail(errno, hint, "cannot allocate memory on node %d", node);
  for (size_t i = 0; i < PAGES_A_NODE; i++)
    announce_page(pages + i * page_bytes);
  munmap(pages, bytes);
}

void attribution_announce(void) {
  announce_processors();
  const uint64_t nodes = nodes_with_memory();
  for (int node = 0; node < 64; node++)
    if (nodes >> node & 1)
      announce_memory(node);
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_EXCLUDE);
}
