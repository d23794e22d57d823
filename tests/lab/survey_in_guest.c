// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A rank of a job: its threads fill an array, or the first one alone does, and work. At its end it
// prints what the kernel reports of it: its host, each thread's mask, and the pages of the array by
// node.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { bytes = 32 << 20, page = 4096, pages = bytes / page, most_nodes = 16, most_threads = 64 };

static double own_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// So long that every thread is seen at work, beside the first one, which may have filled the
/// array.
static void work(double seconds) {
  while (own_time() < seconds) {
  }
}

static void print_mask(const cpu_set_t* mask) {
  const char* separator = "\"";
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, mask)) {
      printf("%s%zu", separator, cpu);
      separator = ",";
    }
  }
  printf("\"");
}

static void print_pages(char* array) {
  static void* addresses[pages];
  static int nodes[pages];
  int by_node[most_nodes] = {0};
  for (int i = 0; i < pages; ++i) {
    addresses[i] = array + (size_t)i * page;
  }
  if (syscall(SYS_move_pages, 0, (unsigned long)pages, addresses, NULL, nodes, 0) != 0) {
    perror("move_pages");
    exit(1);
  }
  for (int i = 0; i < pages; ++i) {
    by_node[nodes[i] >= 0 && nodes[i] < most_nodes ? nodes[i] : most_nodes - 1] += 1;
  }
  const char* separator = "";
  for (int node = 0; node < most_nodes; ++node) {
    if (by_node[node] != 0) {
      printf("%s\"%d\": %d", separator, node, by_node[node]);
      separator = ", ";
    }
  }
}

/// As the launcher says: Open MPI, MPICH, Slurm.
static const char* rank(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (getenv(names[i])) {
      return getenv(names[i]);
    }
  }
  return "0";
}

int main(int count, char** words) {
  const int alone = count > 1 && strcmp(words[1], "alone") == 0;
  static cpu_set_t masks[most_threads];
  char* array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (array == MAP_FAILED || omp_get_max_threads() > most_threads) {
    return 1;
  }
  if (alone) {
    memset(array, 1, bytes);
  }
  const double enough = own_time() + 0.1;
#pragma omp parallel
  {
    const size_t part = bytes / (size_t)omp_get_num_threads();
    if (!alone) {
      memset(array + part * (size_t)omp_get_thread_num(), 1, part);
    }
    work(enough);
    sched_getaffinity(0, sizeof masks[0], &masks[omp_get_thread_num()]);
  }
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  flockfile(stdout);
  printf("{\"rank\": %s, \"host\": \"%s\", \"masks\": [", rank(), host);
  for (int thread = 0; thread < omp_get_max_threads(); ++thread) {
    printf("%s", thread == 0 ? "" : ", ");
    print_mask(&masks[thread]);
  }
  printf("], \"pages\": {");
  print_pages(array);
  printf("}}\n");
  funlockfile(stdout);
  return 0;
}
