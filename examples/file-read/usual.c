// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// file-read, as it is usually written: one thread reads a file into a fresh array, all threads work
// on the array. read(2) is the first to write each page, in the kernel, but for the thread that
// called: every page lives on that thread's node.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.1.1, on first touch and input.
//
// usage: file-read [MiB] [sweeps] [folder for the file]
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/input_file.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"file-read", "[MiB] [sweeps] [folder]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 3);
  const int file = make_input(line.program, text_at(&line, 3, fast_folder()), bytes);
  const size_t n = bytes / sizeof(double);
  double* data = aligned_alloc(page_bytes, bytes); // made
  if (data == NULL) {
    return no_memory(&line, bytes);
  }

  read_input(line.program, file, data, bytes); // touch

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      sum += data[i]; // use
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
