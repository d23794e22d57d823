// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// stencil-tree with OpenMP's tasks: the threads touch the grids in blocks of rows, and each task
// has an affinity clause with its rows. The runtimes of GCC and LLVM accept the clause and do not
// follow it.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: OpenMP 5.0, section 2.10.1, on the affinity clause.
//
// usage: stencil-tree-omp [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <nodewise/marker.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/task_moves.hpp"
#include "stencil_tree.hpp"

namespace {

struct omp_fork {
  const double* grid;

  template <class Left, class Right>
  void operator()(std::size_t, const Left& left, std::size_t half, const Right& right) const {
    const auto task = noting_moves(right);
    const double* const home = grid + half;
#pragma omp task default(none) firstprivate(task, home) affinity(*home)
    task();
    left();
#pragma omp taskwait
  }
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"stencil-tree-omp", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 8);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(double);
  auto* grids = static_cast<double*>(std::aligned_alloc(page_bytes, 2 * bytes));
  if (grids == nullptr) {
    return no_memory(&line, 2 * bytes);
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    grids[i] = grids[n + i] = 0.0; // touch
  }

  const std::size_t rows = n / page_doubles;
  stencil_tree tree(grids, grids + n, rows, omp_fork{grids});
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    tree.fill(0, rows);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      tree.step(0, rows);
      tree.swap();
    }
    sum = tree.sum(0, rows);
  }
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  print_moved_tasks();
  std::free(grids);
}
