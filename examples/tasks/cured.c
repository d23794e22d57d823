// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// tasks, cured with OpenMP: a team for each node, by nested parallelism, and a part of the array
// for each team, touched and used by tasks of that team. A task never leaves its team.
//
// Remote share of the use phase: 0, with OMP_PLACES=cores and as many teams as nodes.
// Source: Hager and Wellein, section 8.3.1: hand work out by locality domain.
//
// usage: tasks-omp-cured [MiB] [sweeps] [teams]
#define _GNU_SOURCE
#include <nodewise/marker.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../nested/teams.h"
#include "../shared/command_line.h"
#include "../shared/result.h"
#include "pieces.h"

static void touch_in_tasks(double* data, size_t first, size_t last) {
  for (size_t piece = first; piece < last; piece += piece_doubles) {
#pragma omp task
    for (size_t i = piece; i < end_of_piece(piece, last); ++i) {
      data[i] = 0.0;
    }
  }
#pragma omp taskwait
}

int main(int argc, char** argv) {
  const struct command_line line = {"tasks-omp-cured", "[MiB] [sweeps] [teams]", argc, argv};
  const size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int teams = (int)number_at(&line, 3, nodes_with_processors(), 1024);
  end_at(&line, 3);
  const int threads = processors_a_node();
  const size_t pages = bytes / page_bytes;
  double* data = aligned_alloc(page_bytes, bytes);
  if (data == NULL) {
    return no_memory(&line, bytes);
  }
  omp_set_max_active_levels(2);

  double sum = 0;
  const double start = omp_get_wtime();
#pragma omp parallel num_threads(teams) proc_bind(spread) reduction(+ : sum)
  {
    const size_t team = (size_t)omp_get_thread_num();
    const size_t all = (size_t)omp_get_num_threads();
    const size_t first = pages * team / all * page_doubles;
    const size_t last = pages * (team + 1) / all * page_doubles;
#pragma omp parallel num_threads(threads) proc_bind(close)
#pragma omp single
    touch_in_tasks(data, first, last);
#pragma omp barrier
#pragma omp master
    NODEWISE_MARKER_USE();
#pragma omp barrier
    double mine = 0;
#pragma omp parallel num_threads(threads) proc_bind(close)
#pragma omp single
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      add_one_in_tasks(data, first, last, &mine);
    }
    sum += mine;
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
  free(data);
  return 0;
}
