// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// quad-tree with OpenMP's tasks: the threads touch the particles in blocks, and each task has an
// affinity clause with its particles. The runtimes of GCC and LLVM accept the clause and do not
// follow it.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: OpenMP 5.0, section 2.10.1, on the affinity clause.
//
// usage: quad-tree-omp [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <nodewise/marker.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "../shared/task_moves.hpp"
#include "quad_tree.hpp"

namespace {

struct omp_fork {
  particle* particles;

  template <class Parts, class F>
  void operator()(const Parts& parts, const F& f) const {
    for (auto& each : parts) {
      const auto task = noting_moves([&f, &each] { f(each); });
      const particle* const home = particles + each.first;
#pragma omp task default(none) firstprivate(task, home) affinity(*home)
      task();
    }
#pragma omp taskwait
  }
  [[nodiscard]] static std::pmr::memory_resource* memory_of(const part&) {
    return std::pmr::new_delete_resource();
  }
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"quad-tree-omp", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 8);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(particle);
  auto* particles = static_cast<particle*>(std::aligned_alloc(page_bytes, bytes));
  if (particles == nullptr) {
    return no_memory(&line, bytes);
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    particles[i] = particle(); // touch
  }

  quad_tree tree(particles, n, omp_fork{particles});
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
      tree.move({0, n}, sweep);
      tree.build(tree.root());
      tree.search(tree.root());
      sum += tree.sum(tree.root());
      tree.clear(tree.root());
    }
  }
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  print_moved_tasks();
  std::free(particles);
}
