/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Prints what the kernel says of its process: the processors it may use, the memory policy, and the
 * processors of each thread of an OpenMP team, or of N threads made by pthread_create.
 *
 *     where_threads_run [openmp|none|pthreads N]
 *
 *     cpus 0-3
 *     policy bind 0-1
 *     thread 0 on 0
 *     thread 1 on 1
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, LIST_BYTES = 256, BITS = 8 * (int)sizeof(unsigned long), WORDS = 16 };

static char threads[MAX_THREADS][LIST_BYTES];

/* The numbers of the set bits, "0-3,8"; one that does not fit is cut off. */
static void write_list(const unsigned long* mask, int words, char* list) {
  size_t at = 0;
  list[0] = '\0';
  for (int bit = 0; bit < words * BITS; ++bit) {
    int last = bit;
    while (last < words * BITS && (mask[last / BITS] >> (last % BITS) & 1UL) != 0) {
      ++last;
    }
    if (last > bit && at < LIST_BYTES - 32) {
      at += (size_t)snprintf(list + at, LIST_BYTES - at, "%s%d", at == 0 ? "" : ",", bit);
      if (last - bit > 1) {
        at += (size_t)snprintf(list + at, LIST_BYTES - at, "-%d", last - 1);
      }
    }
    bit = last;
  }
}

static void write_affinity(char* list) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) {
    perror("sched_getaffinity");
    exit(1);
  }
  unsigned long mask[sizeof cpus / sizeof(unsigned long)];
  memcpy(mask, &cpus, sizeof cpus);
  write_list(mask, (int)(sizeof cpus / sizeof(unsigned long)), list);
}

static void print_policy(void) {
  static const char* const names[] = {"default", "preferred",      "bind",    "interleave",
                                      "local",   "preferred-many", "weighted"};
  const int known = (int)(sizeof names / sizeof *names);
  int mode = 0;
  unsigned long mask[WORDS] = {0};
  char nodes[LIST_BYTES];
  if (syscall(SYS_get_mempolicy, &mode, mask, sizeof mask * 8 + 1, NULL, 0) != 0) {
    perror("get_mempolicy");
    exit(1);
  }
  write_list(mask, WORDS, nodes);
  if (mode >= 0 && mode < known) {
    printf("policy %s%s%s\n", names[mode], nodes[0] == '\0' ? "" : " ", nodes);
  } else {
    printf("policy %#x %s\n", (unsigned)mode, nodes);
  }
}

static void* note_affinity(void* list) {
  write_affinity(list);
  return NULL;
}

static int run_pthreads(int count) {
  pthread_t made[MAX_THREADS];
  write_affinity(threads[0]);
  for (int k = 1; k < count; ++k) {
    if (pthread_create(&made[k], NULL, note_affinity, threads[k]) != 0) {
      perror("pthread_create");
      exit(1);
    }
  }
  for (int k = 1; k < count; ++k) {
    pthread_join(made[k], NULL);
  }
  return count;
}

static int run_team(void) {
  int count = 0;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me < MAX_THREADS) {
      write_affinity(threads[me]);
    }
#pragma omp master
    count = omp_get_num_threads() < MAX_THREADS ? omp_get_num_threads() : MAX_THREADS;
  }
  return count;
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "openmp";
  char cpus[LIST_BYTES];
  write_affinity(cpus);
  int count = 0;
  if (strcmp(mode, "openmp") == 0) {
    count = run_team();
  } else if (strcmp(mode, "pthreads") == 0 && argc > 2) {
    const int wanted = atoi(argv[2]);
    count = run_pthreads(wanted < MAX_THREADS ? wanted : MAX_THREADS);
  }
  printf("cpus %s\n", cpus);
  print_policy();
  for (int k = 0; k < count; ++k) {
    printf("thread %d on %s\n", k, threads[k]);
  }
  return 0;
}
