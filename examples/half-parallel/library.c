// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// half-parallel with the library, in C: both matrices have a block for each thread, so nothing
// hangs on which loop fills which of them. The threads are OpenMP's, bound by the same layout.
//
// Remote share of the use phase: 0.
//
// usage: half-parallel-library-c [MiB a matrix] [sweeps]
#include <nodewise.h>
#include <nodewise/marker.h>
#include <omp.h>

#include "../shared/command_line.h"
#include "../shared/library.h"
#include "../shared/result.h"

int main(int argc, char** argv) {
  const struct command_line line = {"half-parallel-library-c", "[MiB a matrix] [sweeps]", argc,
                                    argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  const size_t n = bytes / sizeof(double);

  nodewise_layout* team = NULL;
  nodewise_distribution* by = NULL;
  require(nodewise_layout_make(&team, NODEWISE_CLOSE, 0)); // a thread a core
  require(nodewise_blocked_by_threads(&by, team));
  omp_set_num_threads((int)nodewise_layout_threads(team));
#pragma omp parallel
  require(nodewise_bind_thread(team, (size_t)omp_get_thread_num()));

  nodewise_region* memory[2] = {NULL, NULL};
  require(nodewise_region_make(&memory[0], bytes, by, NODEWISE_PREFER));
  require(nodewise_region_make(&memory[1], bytes, by, NODEWISE_PREFER));
  double* a = nodewise_region_data(memory[0]);
  double* b = nodewise_region_data(memory[1]);
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; ++i) {
    a[i] = 1.0;
  }
  for (size_t i = 0; i < n; ++i) {
    b[i] = (double)(i % 4);
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < n; ++i) {
      a[i] += b[i];
      sum += a[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  nodewise_region_free(memory[0]);
  nodewise_region_free(memory[1]);
  nodewise_distribution_free(by);
  nodewise_layout_free(team);
  return 0;
}
