// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// sort-tree, cured: an arena for each node, which sorts a block of the array that its threads have
// touched. Two nodes' results are merged in the arena of the first, and so on: a task_group belongs
// to one arena, so all tasks of a merge are there.
//
// Remote share of the use phase: the merges between nodes. With n nodes, at level k of log2(n), all
// but a 2^k-th part of what a merge reads and writes.
// Source: Pro TBB, chapter 20: one arena a node, a thread for each enters it.
//
// usage: sort-tree-cured [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <thread>
#include <utility>
#include <vector>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "sort_tree.hpp"
#include "task_group_fork.hpp"

namespace {

struct node_part {
  tbb::task_arena arena;
  std::size_t first = 0;
  std::size_t last = 0;
  double sum = 0;
};

// Equal parts in whole pages, one for each node that oneTBB knows.
std::deque<node_part> parts_of(std::size_t n, int threads) {
  const std::vector<tbb::numa_node_id> nodes = tbb::info::numa_nodes();
  const std::size_t pages = n / page_doubles;
  const int each = (threads + static_cast<int>(nodes.size()) - 1) / static_cast<int>(nodes.size());
  std::deque<node_part> parts;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    node_part& part = parts.emplace_back();
    part.first = pages * k / nodes.size() * page_doubles;
    part.last = pages * (k + 1) / nodes.size() * page_doubles;
    part.arena.initialize(tbb::task_arena::constraints(nodes[k], each), 1);
  }
  return parts;
}

using tree_of_tasks = sort_tree<task_group_fork>;

// `work(part)` in the arena of each part from first to last; returns when all have ended.
template <class Work>
void in_arenas(std::deque<node_part>& parts, const Work& work) {
  std::vector<std::jthread> threads;
  for (node_part& each : parts) {
    threads.emplace_back([&] { each.arena.execute([&] { work(each); }); });
  }
}

void sort(std::deque<node_part>& parts, std::size_t first, std::size_t last, tree_of_tasks& tree,
          double* to, double* other) {
  node_part& mine = parts[first];
  if (last - first == 1) {
    mine.arena.execute([&] { tree.sort(mine.first, mine.last, to, other); });
    return;
  }
  const std::size_t half = first + (last - first) / 2;
  double* const next = tree.free_beside(other);
  {
    const std::jthread left([&] { sort(parts, first, half, tree, other, next); });
    sort(parts, half, last, tree, other, next);
  }
  mine.arena.execute(
      [&] { tree.merge(mine.first, parts[half].first, parts[last - 1].last, other, to); });
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"sort-tree-cured", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(double);
  auto* data = static_cast<double*>(std::aligned_alloc(page_bytes, 2 * bytes));
  if (data == nullptr) {
    return no_memory(&line, 2 * bytes);
  }
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads) + 1);
  std::deque<node_part> parts = parts_of(n, threads);
  tree_of_tasks tree(data, data + n, data + n, sort_cut_off, task_group_fork());

  in_arenas(parts, [&](const node_part& mine) {
    std::fill(data + mine.first, data + mine.last, 0.0);
    std::fill(data + n + mine.first, data + n + mine.last, 0.0);
  });

  NODEWISE_MARKER_USE();
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    in_arenas(parts, [&](const node_part& mine) { tree.fill(mine.first, mine.last, sweep); });
    sort(parts, 0, parts.size(), tree, data, data + n);
    in_arenas(parts, [&](node_part& mine) { mine.sum += tree.sum(mine.first, mine.last); });
  }
  const double elapsed = seconds() - start;
  double sum = 0;
  for (const node_part& each : parts) {
    sum += each.sum;
  }
  print_result_of(&line, sum, threads, sweeps, elapsed);
  print_moved_tasks();
  std::free(data);
}
