/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Memory of every kind on known nodes of four, then stops itself: pages_in_guest FILE. FILE says
 * where the pages are by this program's own knowledge: what was bound is where it was bound, and
 * get_mempolicy, a page at a time, confirms the rest. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)4096)
enum { absent = -2, zero = -4 };

static FILE* out;
static int areas;

static char static_array[256 * PAGE_BYTES] __attribute__((aligned(4096)));

static void check(int holds, const char* what) {
  if (!holds) {
    perror(what);
    exit(1);
  }
}

static void bind_to(void* start, size_t bytes, int mode, unsigned long nodes) {
  check(syscall(SYS_mbind, start, bytes, mode, &nodes, sizeof nodes * 8 + 1, 0) == 0, "mbind");
}

static char* map(size_t pages) {
  char* start = mmap(NULL, (pages + 2) * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(start != MAP_FAILED, "mmap");
  /* Guard pages keep the kernel from joining neighbours. */
  check(mprotect(start + PAGE_BYTES, pages * PAGE_BYTES, PROT_READ | PROT_WRITE) == 0, "mprotect");
  return start + PAGE_BYTES;
}

static void touch(char* start, size_t pages) {
  for (size_t i = 0; i < pages; i++)
    *(volatile char*)(start + i * PAGE_BYTES) = 1;
}

static int node_of(char* address) {
  int node = -1;
  check(syscall(SYS_get_mempolicy, &node, NULL, 0, address, MPOL_F_NODE | MPOL_F_ADDR) == 0,
        "get_mempolicy");
  return node;
}

/* owner: where each page is meant to be. */
static void tell(const char* name, char* start, size_t pages, int (*owner)(char*, size_t)) {
  fprintf(out, "%s{\"name\": \"%s\", \"start\": \"0x%lx\", \"owners\": [", areas++ ? ",\n" : "",
          name, (unsigned long)start);
  for (size_t i = 0; i < pages; i++)
    fprintf(out, "%s%d", i ? "," : "", owner(start + i * PAGE_BYTES, i));
  fprintf(out, "]}");
}

static int owner_1(char* at, size_t i) {
  check(node_of(at) == 1, "a page bound to node 1");
  return (void)i, 1;
}
static int owner_2(char* at, size_t i) {
  check(node_of(at) == 2, "a page bound to node 2");
  return (void)i, 2;
}
static int owner_block(char* at, size_t i) {
  check(node_of(at) == (int)(i / 64), "a page bound to its block's node");
  return (int)(i / 64);
}
static int owner_asked(char* at, size_t i) {
  return (void)i, node_of(at);
}
static int owner_every_third(char* at, size_t i) {
  return i % 3 == 0 ? node_of(at) : absent;
}
static int owner_zero_then_3(char* at, size_t i) {
  return i < 32 ? zero : owner_asked(at, i);
}

static void* sleeper(void* cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(*(size_t*)cpu, &set);
  check(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
  for (;;)
    pause();
  return NULL;
}

static void blocks(char* start) {
  for (size_t n = 0; n < 4; n++)
    bind_to(start + n * 64 * PAGE_BYTES, 64 * PAGE_BYTES, MPOL_BIND, 1UL << n);
  touch(start, 256);
}

static char* shared(const char* name, size_t pages) {
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  check(fd >= 0 && ftruncate(fd, (off_t)(pages * PAGE_BYTES)) == 0, name);
  char* start = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  check(start != MAP_FAILED, name);
  close(fd);
  return start;
}

int main(int argc, char** argv) {
  check(argc == 2 && (out = fopen(argv[1], "w")) != NULL, "the file to write");
  fprintf(out, "[\n");

  char* bound = map(256);
  bind_to(bound, 256 * PAGE_BYTES, MPOL_BIND, 1UL << 1);
  touch(bound, 256);
  tell("bound", bound, 256, owner_1);

  char* blocked = map(256);
  blocks(blocked);
  tell("blocked", blocked, 256, owner_block);

  blocks(static_array);
  tell("static_array", static_array, 256, owner_block);

  char* interleaved = map(512);
  bind_to(interleaved, 512 * PAGE_BYTES, MPOL_INTERLEAVE, 0xf);
  touch(interleaved, 512);
  tell("interleaved", interleaved, 512, owner_asked);

  char* holes = map(300);
  bind_to(holes, 300 * PAGE_BYTES, MPOL_BIND, 1UL << 3);
  for (size_t i = 0; i < 300; i += 3)
    touch(holes + i * PAGE_BYTES, 1);
  tell("holes", holes, 300, owner_every_third);

  char* zeros = map(64);
  bind_to(zeros, 64 * PAGE_BYTES, MPOL_BIND, 1UL << 3);
  for (size_t i = 0; i < 64; i++)
    (void)*(volatile char*)(zeros + i * PAGE_BYTES);
  touch(zeros + 32 * PAGE_BYTES, 32);
  tell("zeros", zeros, 64, owner_zero_then_3);

  char* shm = shared("/dev/shm/nodewise-pages-test", 256);
  blocks(shm);
  tell("shm", shm, 256, owner_block);

  char* file = shared("nodewise-pages-test.dat", 64);
  touch(file, 64);
  tell("file", file, 64, owner_asked);

  size_t huge = 2UL << 20;
  char* room = map(5 * huge / PAGE_BYTES);
  char* thp = (char*)(((unsigned long)room + huge - 1) / huge * huge);
  check(madvise(thp, 4 * huge, MADV_HUGEPAGE) == 0, "madvise");
  bind_to(thp, 4 * huge, MPOL_BIND, 1UL << 2);
  touch(thp, 4 * huge / PAGE_BYTES);
  tell("thp", thp, 4 * huge / PAGE_BYTES, owner_2);

  fprintf(out, "]\n");
  fclose(out);
  static size_t cpus[] = {2, 3}; /* both on node 1 of a 4x2 machine */
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    check(pthread_create(&thread, NULL, sleeper, &cpus[i]) == 0, "pthread_create");
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(2, &set);
  check(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
  usleep(200000);
  raise(SIGSTOP);
  return 0;
}
