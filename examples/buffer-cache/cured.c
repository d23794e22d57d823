// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// buffer-cache, cured: the program takes the file out of the kernel's memory when it is done with
// it, so first touch finds free pages where it looks for them. No privilege is needed for that; the
// administrator's way is `echo 1 > /proc/sys/vm/drop_caches` between jobs.
//
// Remote share of the use phase: 0. The file must be in a folder on a disk, see the usual form.
// Source: Hager and Wellein, section 8.3.2, figures 8.8 and 8.9.
//
// usage: buffer-cache-cured [MiB of file] [MiB of array] [sweeps] [folder]
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../first-touch/where.h"
#include "../shared/command_line.h"
#include "../shared/result.h"
#include "page_cache.h"

int main(int argc, char** argv) {
  const struct command_line line = {"buffer-cache-cured",
                                    "[MiB of file] [MiB of array] [sweeps] [folder]", argc, argv};
  const size_t file_bytes = bytes_at(&line, 1, 16);
  const size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 4);
  const size_t n = bytes / sizeof(double);
  const int file = fill_page_cache(line.program, text_at(&line, 4, "."), file_bytes);
  drop_page_cache(line.program, file);
  double* data = aligned_alloc(page_bytes, bytes);
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    data[i] = (double)(i % 8);
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  print_where("data", data, n, sizeof *data);
  free(data);
  close(file);
  return 0;
}
