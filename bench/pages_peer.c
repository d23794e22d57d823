/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What `nodewise pages` is measured against. `pages_peer hold MIB` maps and touches memory in base
 * pages, prints its address and waits. `pages_peer ask PID ADDRESS MIB` is the bare loop: the query
 * form of move_pages in batches, counting pages by node; prints seconds and pages. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { page_bytes = 4096, batch = 4096, nodes = 1024 };

static int hold(size_t bytes) {
  char* start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return 1;
  madvise(start, bytes, MADV_NOHUGEPAGE);
  memset(start, 1, bytes);
  printf("%p\n", (void*)start);
  fflush(stdout);
  for (;;)
    pause();
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ask(int pid, char* start, size_t bytes) {
  static void* pages[batch];
  static int status[batch];
  static size_t on_node[nodes];
  size_t found = 0;
  double begin = now();
  for (size_t at = 0; at < bytes; at += (size_t)batch * page_bytes) {
    size_t count = (bytes - at) / page_bytes < batch ? (bytes - at) / page_bytes : batch;
    for (size_t i = 0; i < count; i++)
      pages[i] = start + at + i * page_bytes;
    if (syscall(SYS_move_pages, pid, count, pages, NULL, status, 0) != 0)
      return perror("move_pages"), 1;
    for (size_t i = 0; i < count; i++)
      if (status[i] >= 0 && status[i] < nodes)
        on_node[status[i]]++;
  }
  double seconds = now() - begin;
  for (int n = 0; n < nodes; n++)
    found += on_node[n];
  printf("%.6f %zu\n", seconds, found);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "hold") == 0)
    return hold(strtoull(argv[2], NULL, 10) << 20);
  if (argc == 5 && strcmp(argv[1], "ask") == 0)
    return ask(atoi(argv[2]), (char*)strtoull(argv[3], NULL, 16),
               strtoull(argv[4], NULL, 10) << 20);
  return 2;
}
