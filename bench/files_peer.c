/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What `nodewise pages --file` and `nodewise warm` are measured against: a bare loop over a mapped file.
 * `files_peer look FILE` touches all pages and asks move_pages for their nodes. `files_peer move FILE NODE...`
 * moves them, in as many blocks as there are nodes, one call for up to 16384 pages of one node. Both print the
 * seconds for touching, for asking or moving, the pages that are cached, and those on the nodes 0 to 3 in the
 * end. `files_peer cached FILE` prints the bytes that are cached, touches nothing, and prints all bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { page_bytes = 4096, batch = 16384, nodes = 4, move_own = 2 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int count_cached(char* start, size_t pages, size_t bytes) {
  unsigned char* resident = malloc(pages);
  size_t cached = 0;
  if (resident == NULL || mincore(start, pages * page_bytes, resident) != 0)
    return perror("mincore"), 1;
  for (size_t i = 0; i < pages; i++)
    cached += resident[i] & 1;
  printf("%zu %zu\n", cached * page_bytes, bytes);
  return 0;
}

static void ask(char* start, size_t pages, size_t* on_node) {
  static void* addresses[batch];
  static int status[batch];
  for (size_t at = 0; at < pages; at += batch) {
    const size_t count = pages - at < batch ? pages - at : batch;
    for (size_t i = 0; i < count; i++)
      addresses[i] = start + (at + i) * page_bytes;
    if (syscall(SYS_move_pages, 0, count, addresses, NULL, status, 0) != 0) {
      perror("move_pages");
      exit(1);
    }
    for (size_t i = 0; i < count; i++)
      if (status[i] >= 0 && status[i] < nodes)
        on_node[status[i]]++;
  }
}

static void move(char* start, size_t pages, int parts, char** names) {
  static void* addresses[batch];
  static int status[batch];
  static int to[batch];
  for (int part = 0; part < parts; part++) {
    const size_t end = pages * (size_t)(part + 1) / (size_t)parts;
    const int node = atoi(names[part]);
    for (size_t at = pages * (size_t)part / (size_t)parts; at < end;) {
      const size_t count = end - at < batch ? end - at : batch;
      for (size_t i = 0; i < count; i++) {
        addresses[i] = start + (at + i) * page_bytes;
        to[i] = node;
      }
      if (syscall(SYS_move_pages, 0, count, addresses, to, status, move_own) < 0) {
        perror("move_pages");
        exit(1);
      }
      at += count;
    }
  }
}

int main(int argc, char** argv) {
  struct stat its;
  if (argc < 3)
    return 2;
  const int file = open(argv[2], O_RDONLY);
  if (file < 0 || fstat(file, &its) != 0 || its.st_size == 0)
    return perror(argv[2]), 1;
  const size_t pages = ((size_t)its.st_size + page_bytes - 1) / page_bytes;
  char* const start = mmap(NULL, (size_t)its.st_size, PROT_READ, MAP_SHARED, file, 0);
  if (start == MAP_FAILED)
    return perror("mmap"), 1;
  if (strcmp(argv[1], "cached") == 0)
    return count_cached(start, pages, (size_t)its.st_size);

  size_t on_node[nodes] = {0};
  const double begin = now();
  unsigned char sum = 0;
  for (size_t i = 0; i < pages; i++)
    sum ^= *(volatile unsigned char*)(start + i * page_bytes);
  const double touched = now();
  if (strcmp(argv[1], "move") == 0)
    move(start, pages, argc - 3, argv + 3);
  else
    ask(start, pages, on_node);
  const double done = now();
  if (strcmp(argv[1], "move") == 0)
    ask(start, pages, on_node);
  printf("%.6f %.6f %zu", touched - begin, done - touched, pages);
  for (int n = 0; n < nodes; n++)
    printf(" %zu", on_node[n]);
  printf("\n");
  return 0;
}
