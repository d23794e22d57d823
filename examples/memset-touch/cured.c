// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// memset-touch, cured: each thread clears the block that it works on. Touching in threads that end
// before others do the work would not do: see unpinned.
//
// Remote share of the use phase: 0. Threads must stay where they are.
// Source: Hager and Wellein, section 8.1.1.
//
// usage: memset-touch-cured [MiB] [sweeps] [threads]
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/workers.h"

static void* work(void* argument) {
  struct worker* me = argument;
  memset(me->data + me->first, 0, (me->last - me->first) * sizeof *me->data);
  add_to_block(me);
  return NULL;
}

int main(int argc, char** argv) {
  const struct command_line line = {"memset-touch-cured", "[MiB] [sweeps] [threads]", argc, argv};
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
  const double start = seconds();
  run_workers(workers, threads, work);
  print_result_of(&line, sum_of(workers, threads), threads, sweeps, seconds() - start);
  free(data);
  free(workers);
  return 0;
}
