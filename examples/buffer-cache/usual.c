// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// buffer-cache: a file was written and read before, and the kernel still has it in memory, on the
// node of the processor that did it. Where that node is full of it, first touch finds no free page
// there and silently takes one of another node: correct code, wrong pages. The kernel prefers far
// memory to giving up cached files (vm.zone_reclaim_mode 0).
//
// Remote share of the use phase: of the first node's part of the array, as much as did not fit; up
// to 1/n with n nodes. The file must be about as large as the node's free memory (`numactl -H`);
// the default is far from it, and all is local. It must be in a folder on a disk: /dev/shm is
// memory itself, which cannot be dropped. In the lab, whose nodes have 256 MiB, 200 MiB
// of file in the working directory do.
// Source: Hager and Wellein, section 8.3.2, figures 8.8 and 8.9.
//
// usage: buffer-cache [MiB of file] [MiB of array] [sweeps] [folder]
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../first-touch/where.h"
#include "../shared/command_line.h"
#include "../shared/result.h"
#include "page_cache.h"

int main(int argc, char** argv) {
  const struct command_line line = {"buffer-cache",
                                    "[MiB of file] [MiB of array] [sweeps] [folder]", argc, argv};
  const size_t file_bytes = bytes_at(&line, 1, 16);
  const size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 4);
  const size_t n = bytes / sizeof(double);
  const int file = fill_page_cache(line.program, text_at(&line, 4, "."), file_bytes);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    data[i] = (double)(i % 8); // touch
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i]; // use
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  print_where("data", data, n, sizeof *data);
  free(data);
  close(file);
  return 0;
}
