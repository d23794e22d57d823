// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How long workers are idle, by the scheduler's own policy, in virtual time.
#include "unit/task_simulation.hpp"

#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/sanitizers.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::test {
namespace {

/// What homes a tree's tasks have.
enum class homes {
  none,
  blocked, ///< that of their first leaf, whose owners are in blocks
  one,     ///< the first node: no other has work of its own
  random,  ///< each task another, whatever its parent has
  pieces,  ///< a 64th of the leaves and all below, at random; larger parts have none
};

struct shape {
  std::string name;
  double most_idle;  ///< share of the workers' time, where the work is enough
  double after;      ///< of a task above the leaves: this times the root of its leaves, in leaves
  double least_part; ///< of a task's leaves, for its first child
  double most_part;
  std::size_t children;
};

// A worker that waits for quarters runs another task meanwhile, and goes on only after that one:
// with four children, more of them are still to be run when a worker begins to wait.
const shape shapes[] = {
    {"halves", 0.05, 0.01, 0.5, 0.5, 2},  {"merges", 0.05, 0.5, 0.5, 0.5, 2},
    {"uneven", 0.05, 0.2, 0.1, 0.9, 2},   {"one side", 0.05, 0.01, 0.1, 0.2, 2},
    {"quarters", 0.07, 0.1, 0.5, 0.5, 4},
};

/// Builds trees of a shape; the same each time.
class planter {
 public:
  planter(const shape& of, homes where, std::size_t leaves, std::size_t nodes)
      : of_(of), where_(where), leaves_(leaves), nodes_(nodes) {}

  tree_task plant() { return part(0, leaves_); }

 private:
  static constexpr double leaf_time = 100; ///< searches: a leaf of ten microseconds, for example

  tree_task part(std::size_t first, std::size_t last) {
    tree_task made;
    made.home = home_of(first, last);
    if (last - first == 1) {
      made.before = leaf_time * between(0.5, 1.5);
      return made;
    }
    made.before = 1;
    made.after = leaf_time * of_.after * std::sqrt(static_cast<double>(last - first));
    const double mean = 1 / static_cast<double>(of_.children);
    for (std::size_t child = 0, at = first; at < last; ++child) {
      const double share = of_.children == 2 ? between(of_.least_part, of_.most_part) : mean;
      const auto wanted = static_cast<std::size_t>(share * static_cast<double>(last - first));
      const std::size_t most = at == first ? last - first - 1 : last - at;
      const std::size_t size =
          child + 1 >= of_.children ? most : std::clamp<std::size_t>(wanted, 1, most);
      made.children.push_back(part(at, at + size));
      at += size;
    }
    return made;
  }
  [[nodiscard]] double between(double low, double high) {
    return std::uniform_real_distribution(low, high)(random_);
  }
  [[nodiscard]] std::uint32_t home_of(std::size_t first, std::size_t last) {
    constexpr std::size_t pieces = 64;
    switch (where_) {
    case homes::none:
      return detail::no_home;
    case homes::blocked:
      return static_cast<std::uint32_t>(first * nodes_ / leaves_);
    case homes::one:
      return 0;
    case homes::random:
      return static_cast<std::uint32_t>(random_() % nodes_);
    case homes::pieces:
      break;
    }
    const std::size_t piece = first * pieces / leaves_;
    return last - first > leaves_ / pieces
               ? detail::no_home
               : static_cast<std::uint32_t>(piece * 2654435761U / 65536U % nodes_);
  }

  const shape& of_;
  homes where_;
  std::size_t leaves_;
  std::size_t nodes_;
  std::mt19937 random_{7};
};

struct outcome {
  double slack = 0; ///< work over span times workers
  double idle = 0;  ///< share of all workers' time, with the time of searches and steals
  double at_home = 0;
  std::size_t deepest = 0;
};

outcome simulate(const thread_map& threads, steal across, const tree_task& tree) {
  const auto workers = static_cast<double>(threads.workers().size());
  const double work = tree.work();
  task_simulation simulation(threads, across);
  const double took = simulation.run(tree);
  const auto home = static_cast<double>(simulation.at_home);
  return {work / (tree.span() * workers), 1 - work / (took * workers),
          home / (home + static_cast<double>(simulation.elsewhere)), simulation.deepest};
}

thread_map machine_of(int nodes) {
  const topology where(grid(nodes, 2));
  return {where, team_layout(where, bind_policy::close)};
}

/// Calls `f(outcome, shape, text)` for trees whose work is at least 20 times the span times the
/// workers.
template <class F>
void for_trees(homes where, steal across, F&& f) {
  const std::size_t most_leaves = cases<std::size_t>(8192, 1024);
  int trees = 0;
  for (const int nodes : {2, 4, 8}) {
    const thread_map threads = machine_of(nodes);
    for (const shape& of : shapes) {
      for (std::size_t leaves = 64; leaves <= most_leaves; leaves *= 2) {
        const tree_task tree = planter(of, where, leaves, static_cast<std::size_t>(nodes)).plant();
        const outcome done = simulate(threads, across, tree);
        if (done.slack >= 20) {
          f(done, of,
            of.name + ", " + std::to_string(nodes) + " nodes, " + std::to_string(leaves) +
                " leaves, homes " + std::to_string(static_cast<int>(where)));
          ++trees;
        }
      }
    }
  }
  EXPECT_GE(trees, cases(35, 1)); // else the loop finds too little
}

TEST(TaskSimulation, WorkersAreSeldomIdle) {
  for (const homes where : {homes::none, homes::blocked, homes::one, homes::random}) {
    for (const steal across : {steal::local_first, steal::any}) {
      for_trees(where, across, [](const outcome& done, const shape& of, const std::string& text) {
        EXPECT_LT(done.idle, of.most_idle) << text;
      });
    }
  }
}

// A worker that waits runs another task meanwhile, and goes on only after that one.
TEST(TaskSimulation, PiecesOnRandomNodesMayDelayTheTasksThatWaitForThem) {
  for_trees(homes::pieces, steal::local_first,
            [](const outcome& done, const shape& of, const std::string& text) {
              EXPECT_LT(done.idle, 2 * of.most_idle) << text;
            });
}

TEST(TaskSimulation, BlocksStayAtHome) {
  for_trees(homes::blocked, steal::local_first,
            [](const outcome& done, const shape& of, const std::string& text) {
              // In a tree with one side, the last node has no work before the others have done most
              // of theirs.
              EXPECT_GT(done.at_home, of.name == "one side" ? 0.4 : 0.8) << text;
            });
}

// Each worker's stack has at most so many tasks. Waiting tasks would pile up by the thousand if
// workers sent tasks away without limit.
TEST(TaskSimulation, StacksStayShort) {
  for (const homes where : {homes::one, homes::random, homes::pieces}) {
    for_trees(where, steal::local_first,
              [](const outcome& done, const shape& of, const std::string& text) {
                (void)of;
                EXPECT_LT(done.deepest, 500U) << text;
              });
  }
}

/// A binary tree of tasks that use one piece of data.
tree_task piece_of(std::size_t leaves, std::uint32_t home, std::size_t piece) {
  tree_task made{.before = leaves == 1 ? 100.0 : 1.0, .home = home, .piece = piece, .children = {}};
  if (leaves > 1) {
    made.children.push_back(piece_of(leaves / 2, home, piece));
    made.children.push_back(piece_of(leaves - leaves / 2, home, piece));
  }
  return made;
}

struct cache_outcome {
  double idle = 0;
  double in_use = 0; ///< pieces of 100 tasks that a cache's workers begin in a row, on average
};

/// Runs 64 pieces, at home on two nodes in turn. Each node has 8 workers; counts for 4 at a time.
cache_outcome run_pieces(const machine& made, steal across) {
  constexpr std::size_t pieces = 64;
  constexpr std::size_t window = 100;
  tree_task root;
  for (std::size_t piece = 1; piece <= pieces; ++piece) {
    root.children.push_back(
        piece_of(256 + 37 * piece % 64, static_cast<std::uint32_t>(piece % 2), piece));
  }
  const topology where(made);
  const thread_map threads(where, team_layout(where, bind_policy::close));
  task_simulation simulation(threads, across);
  std::map<std::size_t, std::deque<std::size_t>> last; // by cache
  double sum = 0;
  double windows = 0;
  simulation.on_begin = [&](std::size_t worker, const tree_task& task) {
    std::deque<std::size_t>& of_cache = last[worker / 4];
    of_cache.push_back(task.piece);
    if (of_cache.size() == window) {
      sum += static_cast<double>(std::set(of_cache.begin(), of_cache.end()).size());
      windows += 1;
      of_cache.clear();
    }
  };
  const double took = simulation.run(root);
  return {1 - root.work() / (took * static_cast<double>(threads.workers().size())), sum / windows};
}

TEST(TaskSimulation, TheWorkersOfACacheShareAPieceBeforeTheyBeginAnother) {
  for (const steal across : {steal::local_first, steal::never}) {
    const cache_outcome two_caches = run_pieces(grid_with_caches(2, 8, 2), across);
    const cache_outcome one_cache = run_pieces(grid_with_caches(2, 8, 1), across);
    const cache_outcome unknown = run_pieces(grid(2, 8), across);
    EXPECT_LT(two_caches.in_use, 0.75 * unknown.in_use);
    EXPECT_LT(two_caches.idle, 0.05);
    EXPECT_EQ(one_cache.in_use, unknown.in_use);
    EXPECT_EQ(one_cache.idle, unknown.idle);
  }
}

} // namespace
} // namespace nodewise::test
