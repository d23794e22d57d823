// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// unpinned, as it is usually written: threads fill their blocks and end, other threads work on the
// same blocks. Each page lives on the node where its first thread happened to run; where the second
// one runs is the kernel's choice.
//
// Remote share of the use phase, with n nodes: by chance, (n-1)/n at most on average.
// Source: Hager and Wellein, section 8.1.1, on pinning; HLRS, NEC Cluster NUMA Tuning.
//
// usage: unpinned [MiB] [sweeps] [threads]
#define _GNU_SOURCE
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/workers.h"

static void* fill(void* argument) {
  struct worker* me = argument;
  for (size_t i = me->first; i < me->last; ++i) {
    me->data[i] = 0.0; // touch
  }
  return NULL;
}

static void* work(void* argument) {
  add_to_block(argument);

  return NULL;
}

int main(int argc, char** argv) {
  const struct command_line line = {"unpinned", "[MiB] [sweeps] [threads]", argc, argv};
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
