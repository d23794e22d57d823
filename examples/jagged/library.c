// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// jagged with the library, in C: the rows are parts of one region with a block for each thread, and
// so are the pointers to them. No header of malloc lies between.
//
// Remote share of the use phase: 0, but for a few pages where blocks of rows meet.
//
// usage: jagged-library-c [MiB] [sweeps]
#include <nodewise.h>
#include <nodewise/marker.h>
#include <omp.h>

#include "../shared/command_line.h"
#include "../shared/library.h"
#include "../shared/result.h"

enum { row_doubles = 80 }; // 640 bytes: six rows to a page

int main(int argc, char** argv) {
  const struct command_line line = {"jagged-library-c", "[MiB] [sweeps]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t n = bytes / (row_doubles * sizeof(double));

  nodewise_layout* team = NULL;
  nodewise_distribution* by = NULL;
  require(nodewise_layout_make(&team, NODEWISE_CLOSE, 0)); // a thread a core
  require(nodewise_blocked_by_threads(&by, team));
  omp_set_num_threads((int)nodewise_layout_threads(team));
#pragma omp parallel
  require(nodewise_bind_thread(team, (size_t)omp_get_thread_num()));

  nodewise_region* memory[2] = {NULL, NULL};
  require(nodewise_region_make(&memory[0], bytes, by, NODEWISE_PREFER));
  require(nodewise_region_make(&memory[1], n * sizeof(double*), by, NODEWISE_PREFER));
  double* data = nodewise_region_data(memory[0]);
  double** rows = nodewise_region_data(memory[1]);
  for (size_t row = 0; row < n; ++row) {
    rows[row] = data + row * row_doubles; // of whatever length each has
  }
#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    for (size_t i = 0; i < row_doubles; ++i) {
      rows[row][i] = (double)(i % 4);
    }
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t row = 0; row < n; ++row) {
      for (size_t i = 0; i < row_doubles; ++i) {
        rows[row][i] += 1.0;
        sum += rows[row][i];
      }
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  nodewise_region_free(memory[0]);
  nodewise_region_free(memory[1]);
  nodewise_distribution_free(by);
  nodewise_layout_free(team);
  return 0;
}
