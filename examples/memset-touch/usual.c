// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// memset-touch, as it is usually written: the main thread clears the array, then starts threads
// that work on it, a block each. memset is the first to write each page.
//
// Remote share of the use phase, with n nodes: (n-1)/n. Threads must stay where they are.
// Source: Hager and Wellein, section 8.1.1.
//
// usage: memset-touch [MiB] [sweeps] [threads]
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/workers.h"

static void* work(void* argument) {
  struct worker* me = argument;
  add_to_block(me);
  return NULL;
}

int main(int argc, char** argv) {
  const struct command_line line = {"memset-touch", "[MiB] [sweeps] [threads]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  struct worker* workers = malloc((size_t)threads * sizeof *workers);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (workers == NULL || data == NULL) {
    return no_memory(&line, bytes);
  }

  memset(data, 0, bytes); // touch

  deal_out(workers, threads, data, bytes / sizeof *data, sweeps);
  const double start = seconds();
  run_workers(workers, threads, work);
  print_result_of(&line, sum_of(workers, threads), threads, sweeps, seconds() - start);
  free(data);
  free(workers);
  return 0;
}
