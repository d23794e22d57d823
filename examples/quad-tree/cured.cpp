// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// quad-tree, cured: an arena for each node, whose threads touch a block of the particles. The main
// thread divides the cells in which blocks meet; each arena builds and walks the subtrees in its
// own block.
//
// Remote share of the use phase: neighbours in other blocks, the cells that the main thread
// divides, and the leaves in which two blocks meet.
// Source: Pro TBB, chapter 20: one arena a node, a thread for each enters it.
//
// usage: quad-tree-cured [MiB] [sweeps] [threads]
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
#include "quad_tree.hpp"
#include "task_group_fork.hpp"

namespace {

struct subtree {
  cell* root;
  square where;
};

struct node_part : part {
  tbb::task_arena arena;
  std::vector<subtree> subtrees;
  double sum = 0;
};

// Equal parts in whole pages, one for each node that oneTBB knows.
std::deque<node_part> parts_of(std::size_t n, int threads) {
  constexpr std::size_t page_particles = page_bytes / sizeof(particle);
  const std::vector<tbb::numa_node_id> nodes = tbb::info::numa_nodes();
  const std::size_t pages = n / page_particles;
  const int each = (threads + static_cast<int>(nodes.size()) - 1) / static_cast<int>(nodes.size());
  std::deque<node_part> parts;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    node_part& made = parts.emplace_back();
    made.first = pages * k / nodes.size() * page_particles;
    made.last = pages * (k + 1) / nodes.size() * page_particles;
    made.arena.initialize(tbb::task_arena::constraints(nodes[k], each), 1);
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

using tree_of_tasks = quad_tree<task_group_fork>;

// Gives each part the largest subtrees that are all in its block; a leaf in which two blocks meet
// is the first one's.
void deal_out(const tree_of_tasks& tree, cell& of, const square& where,
              std::deque<node_part>& parts) {
  if (of.first == of.last) {
    return;
  }
  node_part& owner =
      *std::ranges::find_if(parts, [&](const node_part& each) { return of.first < each.last; });
  if (of.last <= owner.last || !tree.split(of, where)) {
    owner.subtrees.push_back({&of, where});
    return;
  }
  for (cell& child : of.quadrants()) {
    deal_out(tree, child, where.quadrant(of.number_of(child)), parts);
  }
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"quad-tree-cured", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 8);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  const std::size_t n = bytes / sizeof(particle);
  auto* particles = static_cast<particle*>(std::aligned_alloc(page_bytes, bytes));
  if (particles == nullptr) {
    return no_memory(&line, bytes);
  }
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads) + 1);
  std::deque<node_part> parts = parts_of(n, threads);
  tree_of_tasks tree(particles, n, task_group_fork());
  in_arenas(parts, [&](const node_part& mine) {
    std::fill(particles + mine.first, particles + mine.last, particle());
  });
  const auto for_subtrees = [&](const auto& work) {
    in_arenas(parts, [&](node_part& mine) {
      task_group_fork()(mine.subtrees, [&](const subtree& each) { work(each); });
    });
  };

  NODEWISE_MARKER_USE();
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    in_arenas(parts, [&](node_part& mine) {
      tree.move(mine, sweep);
      mine.subtrees.clear();
    });
    deal_out(tree, tree.root(), {}, parts);
    for_subtrees([&](const subtree& each) { tree.build(*each.root, each.where); });
    for_subtrees([&](const subtree& each) { tree.search(*each.root); });
    in_arenas(parts, [&](node_part& mine) {
      for (const subtree& each : mine.subtrees) {
        mine.sum += tree.sum(*each.root);
      }
    });
    for_subtrees([&](const subtree& each) { tree.clear(*each.root); });
    tree.clear(tree.root());
  }
  const double elapsed = seconds() - start;
  double sum = 0;
  for (const node_part& each : parts) {
    sum += each.sum;
  }
  print_result_of(&line, sum, threads, sweeps, elapsed);
  print_moved_tasks();
  std::free(particles);
}
