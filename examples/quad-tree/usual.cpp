// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// quad-tree, as it is usually written with oneTBB: the main thread allocates and clears the
// particles, and recursions with task_group build a tree over them and walk it. Any worker takes
// any cell.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Pro TBB, chapter 20; oneTBB's workers steal at random.
//
// usage: quad-tree [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "quad_tree.hpp"
#include "task_group_fork.hpp"

int main(int argc, char** argv) {
  const command_line line = {"quad-tree", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 8);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(particle);
  auto* particles = static_cast<particle*>(std::aligned_alloc(page_bytes, bytes)); // made
  if (particles == nullptr) {
    return no_memory(&line, bytes);
  }
  std::fill(particles, particles + n, particle()); // touch

  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  quad_tree tree(particles, n, task_group_fork());
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    arena.execute([&] {
      tree.move({0, n}, sweep);
      tree.build(tree.root());
      tree.search(tree.root());
      sum += tree.sum(tree.root());
      tree.clear(tree.root());
    });
  }
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  print_moved_tasks();
  std::free(particles);
}
