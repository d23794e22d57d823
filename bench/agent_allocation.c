/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * agent_allocation cycle BYTES THREADS   each thread allocates a block, touches each of its pages
 *                                        once and frees it, again and again
 * agent_allocation live COUNT            with COUNT live blocks of 64 KiB, each operation on one more
 *
 * Prints "NAME NANOSECONDS": processor time of one operation, all threads' together by their number.
 * It knows nothing of the agent.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { page = 4096, live_bytes = 64 << 10 };

static const double enough_ns = 2e8;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static double thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static char* seen(void* start) {
  __asm__ volatile("" : "+r"(start) : : "memory");
  if (start == NULL) {
    fail("agent_allocation: no memory");
  }
  return start;
}

static size_t cycle_bytes;

/* Another line of each page, in turn. The same line of all pages would share its cache sets: of 1024
 * pages in a plain mapping the first lines take 10.5 us and any other ones 6.2 us, and two threads'
 * blocks of 512 pages each take all ways of a second-level cache of 2 MiB if both begin on a page, as
 * the agent's do, but not if they begin elsewhere (processor in the results). Arrays are used whole. */
static void cycle(void) {
  enum { line = 64 };
  volatile char* const block = seen(malloc(cycle_bytes));
  size_t within = 0;
  for (size_t at = 0; at + page <= cycle_bytes; at += page) {
    block[at + within] = 1;
    within = (within + 5 * line) % page;
  }
  free((void*)block);
}

/* Processor time of one call. */
static double time_of(void (*call)(void), unsigned at_least) {
  for (unsigned i = 0; i < at_least; ++i) { /* warm-up */
    call();
  }
  const double begin = thread_ns();
  unsigned calls = 0;
  while (calls < at_least || thread_ns() - begin < enough_ns) {
    call();
    ++calls;
  }
  return (thread_ns() - begin) / calls;
}

static pthread_barrier_t all_here;

static void* cycle_in_thread(void* into) {
  pthread_barrier_wait(&all_here);
  *(double*)into = time_of(cycle, 200);
  return NULL;
}

static void cycle_all(unsigned threads) {
  pthread_t* const all = calloc(threads, sizeof *all);
  double* const ns = calloc(threads, sizeof *ns);
  double sum = 0;
  pthread_barrier_init(&all_here, NULL, threads);
  for (unsigned i = 0; i < threads; ++i) {
    if (pthread_create(&all[i], NULL, cycle_in_thread, &ns[i]) != 0) {
      fail("agent_allocation: pthread_create");
    }
  }
  for (unsigned i = 0; i < threads; ++i) {
    pthread_join(all[i], NULL);
    sum += ns[i];
  }
  printf("cycle %.0f\n", sum / threads);
}

static void allocate_and_free(void) {
  free(seen(malloc(live_bytes)));
}
static void allocate_zeroed_and_free(void) {
  free(seen(calloc(1, live_bytes)));
}
static void allocate_aligned_and_free(void) {
  free(seen(aligned_alloc(page, live_bytes)));
}
static void grow_and_free(void) {
  free(seen(realloc(seen(malloc(live_bytes)), 2 * live_bytes)));
}
static void* a_block;
static void ask_for_size(void) {
  if (malloc_usable_size(a_block) < live_bytes) {
    fail("agent_allocation: malloc_usable_size");
  }
}
static void map_and_unmap(void) {
  void* const mapped = mmap(NULL, live_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED || munmap(mapped, live_bytes) != 0) {
    fail("agent_allocation: mmap");
  }
}
static void map_and_unmap_small(void) {
  void* const mapped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED || munmap(mapped, page) != 0) {
    fail("agent_allocation: mmap");
  }
}
static void map_grow_and_unmap(void) {
  void* mapped = mmap(NULL, live_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mapped = mapped == MAP_FAILED ? mapped : mremap(mapped, live_bytes, 2 * live_bytes, MREMAP_MAYMOVE);
  if (mapped == MAP_FAILED || munmap(mapped, 2 * live_bytes) != 0) {
    fail("agent_allocation: mremap");
  }
}

static void with_live(size_t count) {
  static const struct {
    const char* name;
    void (*call)(void);
  } all[] = {{"malloc+free", allocate_and_free},
             {"calloc+free", allocate_zeroed_and_free},
             {"aligned_alloc+free", allocate_aligned_and_free},
             {"malloc+realloc+free", grow_and_free},
             {"malloc_usable_size", ask_for_size},
             {"mmap+munmap", map_and_unmap},
             {"mmap+munmap of a page", map_and_unmap_small},
             {"mmap+mremap+munmap", map_grow_and_unmap}};
  void* const mapped = mmap(NULL, live_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) { /* one that lives: each munmap has to look for it */
    fail("agent_allocation: mmap");
  }
  for (size_t i = 0; i < count; ++i) {
    a_block = seen(malloc(live_bytes));
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    printf("%s %.0f\n", all[i].name, time_of(all[i].call, 100));
  }
}

int main(int count, char** arguments) {
  if (count == 4 && strcmp(arguments[1], "cycle") == 0) {
    cycle_bytes = strtoul(arguments[2], NULL, 10);
    cycle_all((unsigned)strtoul(arguments[3], NULL, 10));
    return 0;
  }
  if (count == 3 && strcmp(arguments[1], "live") == 0) {
    with_live(strtoul(arguments[2], NULL, 10));
    return 0;
  }
  fputs("usage: agent_allocation cycle BYTES THREADS | live COUNT\n", stderr);
  return 2;
}
