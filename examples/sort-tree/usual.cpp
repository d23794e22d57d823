// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sort-tree, as it is usually written with oneTBB: the main thread fills an array, and a recursion
// with task_group sorts it. Any worker takes any task.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Pro TBB, chapter 20; oneTBB's workers steal at random.
//
// usage: sort-tree [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "sort_tree.hpp"
#include "task_group_fork.hpp"

int main(int argc, char** argv) {
  const command_line line = {"sort-tree", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(double);
  auto* data = static_cast<double*>(std::aligned_alloc(page_bytes, 2 * bytes)); // made
  if (data == nullptr) {
    return no_memory(&line, 2 * bytes);
  }

  for (std::size_t i = 0; i < 2 * n; ++i) {
    data[i] = 0.0; // touch
  }

  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  sort_tree tree(data, data + n, data + n, sort_cut_off, task_group_fork());
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    arena.execute([&] {
      tree.fill(0, n, sweep);
      tree.sort(0, n);
      sum += tree.sum(0, n);
    });
  }
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  print_moved_tasks();
  std::free(data);
}
