// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sort-tree with OpenMP's tasks: the threads touch the array in blocks, and each task has an
// affinity clause with what it writes. The runtimes of GCC and LLVM accept the clause and do not
// follow it.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: OpenMP 5.0, section 2.10.1, on the affinity clause.
//
// usage: sort-tree-omp [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <nodewise/marker.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/task_moves.hpp"
#include "sort_tree.hpp"

namespace {

struct omp_fork {
  template <class Left, class Right>
  void operator()(const double*, const Left& left, const double* half, const Right& right) const {
    const auto task = noting_moves(right);
#pragma omp task default(none) firstprivate(task, half) affinity(*half)
    task();
    left();
#pragma omp taskwait
  }
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"sort-tree-omp", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(double);
  auto* data = static_cast<double*>(std::aligned_alloc(page_bytes, 2 * bytes));
  if (data == nullptr) {
    return no_memory(&line, 2 * bytes);
  }
  double* const buffer = data + n;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    data[i] = buffer[i] = 0.0; // touch
  }

  sort_tree tree(data, buffer, buffer, sort_cut_off, omp_fork());
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
      tree.fill(0, n, sweep);
      tree.sort(0, n);
      sum += tree.sum(0, n);
    }
  }
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  print_moved_tasks();
  std::free(data);
}
