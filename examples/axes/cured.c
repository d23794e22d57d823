// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// axes, cured as far as it goes: the matrix is filled by blocks of rows, so the sweeps by rows are
// local and all memories work. The sweeps by columns remain: no placement in whole blocks serves
// both. (Pages in turn over the nodes serve neither, but evenly.)
//
// Remote share of the use phase, with n nodes: 0 by rows, (n-1)/n by columns, together (n-1)/2n.
// Source: Hager and Wellein, section 8.3, on accesses that no first touch can match.
//
// usage: axes-cured [rows, a multiple of 512] [sweeps]
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../shared/command_line.h"
#include "../shared/result.h"

enum { line_doubles = 8 }; // a cache line

static double by_rows(double* a, size_t n) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column < n; ++column) {
      a[row * n + column] += 1.0; // use
      sum += a[row * n + column];
    }
  }
  return sum;
}

// A line's columns at a time: each line is fetched once.
static double by_columns(double* a, size_t n) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (size_t first = 0; first < n; first += line_doubles) {
    for (size_t row = 0; row < n; ++row) {
      for (size_t column = first; column < first + line_doubles; ++column) {
        a[row * n + column] += 1.0; // use
        sum += a[row * n + column];
      }
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  const struct command_line line = {"axes-cured", "[rows] [sweeps]", argc, argv};
  const size_t asked = (size_t)number_at(&line, 1, 1536, 1L << 20);
  const size_t n = (asked + page_doubles - 1) / page_doubles * page_doubles;
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  double* a = aligned_alloc(page_bytes, n * n * sizeof *a); // made
  if (a == NULL) {
    return no_memory(&line, n * n * sizeof *a);
  }

#pragma omp parallel for schedule(static)
  for (size_t row = 0; row < n; ++row) {
    for (size_t column = 0; column < n; ++column) {
      a[row * n + column] = 0.0;
    }
  }

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += by_rows(a, n);
    sum += by_columns(a, n);
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(a);
  return 0;
}
