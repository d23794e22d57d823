// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// stencil-tree, as it is usually written with oneTBB: the main thread fills two grids, and a
// recursion with task_group computes one from the other. Any worker takes any rows.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Pro TBB, chapter 20; oneTBB's workers steal at random.
//
// usage: stencil-tree [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "stencil_tree.hpp"
#include "task_group_fork.hpp"

int main(int argc, char** argv) {
  const command_line line = {"stencil-tree", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 8);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(double);
  auto* grids = static_cast<double*>(std::aligned_alloc(page_bytes, 2 * bytes)); // made
  if (grids == nullptr) {
    return no_memory(&line, 2 * bytes);
  }
  for (std::size_t i = 0; i < 2 * n; ++i) {
    grids[i] = 0.0; // touch
  }

  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  const std::size_t rows = n / page_doubles;
  stencil_tree tree(grids, grids + n, rows, task_group_fork());
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  arena.execute([&] {
    tree.fill(0, rows);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      tree.step(0, rows);
      tree.swap();
    }
    sum = tree.sum(0, rows);
  });
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  print_moved_tasks();
  std::free(grids);
}
