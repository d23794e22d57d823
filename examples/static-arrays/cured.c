// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// static-arrays, cured: the threads that use the arrays fill them. That works for arrays without
// initialisers only; others come from the program's file.
//
// Remote share of the use phase: 0.
// Source: Hager and Wellein, section 8.1.1, on global data.
//
// usage: static-arrays-cured [sweeps]
#include <nodewise/marker.h>
#include <omp.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

enum { cells = 1 << 20 }; // 8 MiB an array

static double field[cells];
static double weight[cells];

int main(int argc, char** argv) {
  const struct command_line line = {"static-arrays-cured", "[sweeps]", argc, argv};
  const int sweeps = sweeps_at(&line, 1);
  end_at(&line, 1);

#pragma omp parallel for schedule(static)
  for (int i = 0; i < cells; ++i) {
    field[i] = 0.0;
    weight[i] = i % 4;
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < cells; ++i) {
      field[i] += weight[i]; // use
      sum += field[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  return 0;
}
