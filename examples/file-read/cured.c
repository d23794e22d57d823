// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// file-read, cured: the threads that work on the array touch it before it is read, by the same
// schedule, so each page lives on the node of the thread that uses it. The loop is new.
//
// Remote share of the use phase: 0. Reading itself remains one thread's, and (n-1)/n remote.
// Source: Hager and Wellein, section 8.1.1, on first touch and input.
//
// usage: file-read-cured [MiB] [sweeps] [folder for the file]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/input_file.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"file-read-cured", "[MiB] [sweeps] [folder]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 3);
  const int file = make_input(line.program, text_at(&line, 3, fast_folder()), bytes);
  const size_t n = bytes / sizeof(double);
  double* data = aligned_alloc(page_bytes, bytes);
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    data[i] = 0.0;
  }
  read_input(line.program, file, data, bytes);

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
