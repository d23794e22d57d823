// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// unpinned, cured: each thread binds itself to the processor of its block before it does anything
// else, in both phases alike.
//
// Remote share of the use phase: 0.
// Source: Hager and Wellein, section 8.1.1, on pinning; HLRS, NEC Cluster NUMA Tuning.
//
// usage: unpinned-cured [MiB] [sweeps] [threads]
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/workers.h"

// Worker k on processor k, and round where there are more workers.
static void pin(int number) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)(number % (int)sysconf(_SC_NPROCESSORS_ONLN)), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    perror("unpinned-cured: a processor was refused; start it without a binding");
    exit(1);
  }
}

static void* fill(void* argument) {
  struct worker* me = argument;
  pin(me->number);
  for (size_t i = me->first; i < me->last; ++i) {
    me->data[i] = 0.0; // touch
  }
  return NULL;
}

static void* work(void* argument) {
  struct worker* me = argument;
  pin(me->number);
  add_to_block(me);
  return NULL;
}

int main(int argc, char** argv) {
  const struct command_line line = {"unpinned-cured", "[MiB] [sweeps] [threads]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  struct worker* workers = malloc((size_t)threads * sizeof *workers);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (workers == NULL || data == NULL) {
    return no_memory(&line, bytes);
  }

  deal_out(workers, threads, data, bytes / sizeof *data, sweeps);
  run_workers(workers, threads, fill);

  const double start = seconds();
  run_workers(workers, threads, work);
  print_result_of(&line, sum_of(workers, threads), threads, sweeps, seconds() - start);
  free(data);
  free(workers);
  return 0;
}
