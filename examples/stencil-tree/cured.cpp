// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// stencil-tree, cured: an arena for each node, whose threads touch and compute a block of the rows.
//
// Remote share of the use phase: the two rows beside each block.
// Source: Pro TBB, chapter 20: one arena a node, a thread for each enters it.
//
// usage: stencil-tree-cured [MiB] [sweeps] [threads]
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <thread>
#include <vector>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "stencil_tree.hpp"
#include "task_group_fork.hpp"

namespace {

struct node_part {
  tbb::task_arena arena;
  std::size_t first = 0; // row
  std::size_t last = 0;
  double sum = 0;
};

// Equal parts of the rows, one for each node that oneTBB knows.
std::deque<node_part> parts_of(std::size_t rows, int threads) {
  const std::vector<tbb::numa_node_id> nodes = tbb::info::numa_nodes();
  const int each = (threads + static_cast<int>(nodes.size()) - 1) / static_cast<int>(nodes.size());
  std::deque<node_part> parts;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    node_part& part = parts.emplace_back();
    part.first = rows * k / nodes.size();
    part.last = rows * (k + 1) / nodes.size();
    part.arena.initialize(tbb::task_arena::constraints(nodes[k], each), 1);
  }
  return parts;
}

// `work(part)` in the arena of each part; returns when all have ended.
template <class Work>
void in_arenas(std::deque<node_part>& parts, const Work& work) {
  std::vector<std::jthread> threads;
  for (node_part& each : parts) {
    threads.emplace_back([&] { each.arena.execute([&] { work(each); }); });
  }
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"stencil-tree-cured", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 8);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(double);
  auto* grids = static_cast<double*>(std::aligned_alloc(page_bytes, 2 * bytes));
  if (grids == nullptr) {
    return no_memory(&line, 2 * bytes);
  }
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads) + 1);
  const std::size_t rows = n / page_doubles;
  std::deque<node_part> parts = parts_of(rows, threads);
  stencil_tree tree(grids, grids + n, rows, task_group_fork());
  in_arenas(parts, [&](const node_part& mine) {
    for (double* grid : {grids, grids + n}) {
      std::fill(grid + mine.first * page_doubles, grid + mine.last * page_doubles, 0.0);
    }
  });

  NODEWISE_MARKER_USE();
  const double start = seconds();
  in_arenas(parts, [&](const node_part& mine) { tree.fill(mine.first, mine.last); });
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    in_arenas(parts, [&](const node_part& mine) { tree.step(mine.first, mine.last); });
    tree.swap();
  }
  in_arenas(parts, [&](node_part& mine) { mine.sum = tree.sum(mine.first, mine.last); });
  const double elapsed = seconds() - start;
  double sum = 0;
  for (const node_part& each : parts) {
    sum += each.sum;
  }
  print_result_of(&line, sum, threads, sweeps, elapsed);
  print_moved_tasks();
  std::free(grids);
}
