// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 64, NODES_MAX = 64 };

static int failures;
static size_t page_bytes;

static void report(bool good, const char* what, const char* why) {
  if (good) {
    printf("ok %s\n", what);
    return;
  }
  printf("FAILED %s: %s\n", what, why);
  failures++;
}

static char* map_pages(void) {
  char* pages =
      mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  madvise(pages, PAGES * page_bytes, MADV_NOHUGEPAGE);
  return pages;
}

static void touch(char* pages) {
  for (size_t i = 0; i < PAGES; i++)
    ((volatile char*)pages)[i * page_bytes] = 1;
}

// move_pages: moves the pages to `move_to`, or only queries their nodes if it is negative.
static int pages_on(char* pages, int ask_for, int move_to) {
  void* addresses[PAGES];
  int targets[PAGES];
  int status[PAGES];
  for (size_t i = 0; i < PAGES; i++) {
    addresses[i] = pages + i * page_bytes;
    targets[i] = move_to;
  }
  if (syscall(SYS_move_pages, 0, PAGES, addresses, move_to < 0 ? NULL : targets, status,
              MPOL_MF_MOVE) < 0)
    return -errno;
  int found = 0;
  for (int i = 0; i < PAGES; i++)
    found += status[i] == ask_for;
  return found;
}

static void probe_node(int node, int other) {
  char what[80];
  unsigned long mask = 1UL << node;
  char* pages = map_pages();
  long bound = syscall(SYS_mbind, pages, PAGES * page_bytes, MPOL_BIND, &mask, NODES_MAX + 1, 0);
  snprintf(what, sizeof what, "pages bound to node %d are on it", node);
  touch(pages);
  report(bound == 0 && pages_on(pages, node, -1) == PAGES, what,
         bound < 0 ? strerror(errno) : "they are on other nodes");
  if (other != node) {
    snprintf(what, sizeof what, "pages move from node %d to node %d", node, other);
    report(pages_on(pages, other, other) == PAGES, what, "they did not move");
  }
  munmap(pages, PAGES * page_bytes);
}

// Checks that an ordinary user can observe first touch by software page faults.
static void probe_page_faults(void) {
  struct perf_event_attr event = {.size = sizeof event,
                                  .type = PERF_TYPE_SOFTWARE,
                                  .config = PERF_COUNT_SW_PAGE_FAULTS,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1};
  int fd = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) {
    report(false, "page faults can be counted", strerror(errno));
    return;
  }
  char* pages = map_pages();
  touch(pages);
  uint64_t faults = 0;
  bool counted = read(fd, &faults, sizeof faults) == (ssize_t)sizeof faults && faults >= PAGES;
  report(counted, "page faults can be counted", "fewer faults than pages");
  close(fd);
}

// The file's first line. False, with an empty text, if there is none.
static bool read_line(const char* path, char* text, int size) {
  FILE* file = fopen(path, "re");
  const bool read = file && fgets(text, size, file);
  if (!read)
    text[0] = '\0';
  if (file)
    fclose(file);
  return read;
}

// Emulators have truncated exit statuses and lost signals: the runner tests those. This tests time.
static void probe_clock(void) {
  char name[40];
  const bool known = read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                               name, sizeof name);
  name[strcspn(name, "\n")] = '\0';
  printf("%s the kernel's clock source: %s\n", known ? "ok" : "FAILED", known ? name : "unknown");
  failures += !known;
}

uint64_t nodes_with_memory(void) {
  uint64_t mask = 0;
  char text[400];
  (void)read_line("/sys/devices/system/node/has_memory", text, sizeof text);
  for (char* range = strtok(text, ",\n"); range; range = strtok(NULL, ",\n")) {
    int first = 0;
    int last = 0;
    if (sscanf(range, "%d-%d", &first, &last) < 2)
      last = first;
    for (int node = first; node <= last && node < NODES_MAX; node++)
      mask |= (uint64_t)1 << node;
  }
  return mask;
}

int probe(void) {
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  uint64_t nodes = nodes_with_memory();
  report(nodes != 0, "the kernel names nodes with memory",
         "none in /sys/devices/system/node/has_memory");
  const int first = ffsll((long long)nodes) - 1;
  for (int node = 0; node < NODES_MAX; node++)
    if (nodes >> node & 1)
      probe_node(node, first);
  probe_page_faults();
  probe_clock();
  return failures == 0 ? 0 : 1;
}
