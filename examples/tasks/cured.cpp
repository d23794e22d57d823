// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// tasks, cured: an arena for each node, whose threads stay on the node, and a part of the array for
// each arena, touched and used there. Inside an arena any thread may take any piece.
//
// Remote share of the use phase: 0.
// Source: Pro TBB, chapter 20: one arena a node. There a thread for each node enters its arena;
// here oneTBB's own constraints bind who enters.
//
// usage: tasks-cured [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <functional>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <vector>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "pieces.hpp"

namespace {

struct node_part {
  tbb::task_arena arena;
  tbb::task_group tasks;
  range part{0, 0};
  double sum = 0;
};

// Equal parts in whole pages, one for each node that oneTBB knows.
std::deque<node_part> parts_of(std::size_t n, int threads) {
  const std::vector<tbb::numa_node_id> nodes = tbb::info::numa_nodes();
  const std::size_t pages = n / page_doubles;
  const int each = (threads + static_cast<int>(nodes.size()) - 1) / static_cast<int>(nodes.size());
  std::deque<node_part> parts;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto edge = [&](std::size_t of) { return pages * of / nodes.size() * page_doubles; };
    auto& part = parts.emplace_back();
    part.part = range(edge(k), edge(k + 1), page_doubles);
    part.arena.initialize(tbb::task_arena::constraints(nodes[k], each), 0);
  }
  return parts;
}

// Every arena does this with its part; returns when all have.
template <class Work>
void on_every_node(std::deque<node_part>& parts, const Work& work) {
  for (auto& each : parts) {
    each.arena.execute([&] { each.tasks.run([&] { work(each); }); });
  }
  for (auto& each : parts) {
    each.arena.execute([&] { each.tasks.wait(); });
  }
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"tasks-cured", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  auto* data = static_cast<double*>(std::aligned_alloc(page_bytes, bytes));
  if (data == nullptr) {
    return no_memory(&line, bytes);
  }
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads) + 1); // this one only waits
  std::deque<node_part> parts = parts_of(bytes / sizeof(double), threads);

  on_every_node(parts, [&](node_part& mine) {
    tbb::parallel_for(mine.part, [&](const range& piece) {
      for (std::size_t i = piece.begin(); i < piece.end(); ++i) {
        data[i] = 0.0;
      }
    });
  });

  NODEWISE_MARKER_USE();
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    on_every_node(parts, [&](node_part& mine) {
      mine.sum += tbb::parallel_reduce(
          mine.part, 0.0,
          [&](const range& piece, double before) { return before + add_one(data, piece); },
          std::plus<>());
    });
  }
  const double elapsed = seconds() - start;
  double sum = 0;
  for (const auto& each : parts) {
    sum += each.sum;
  }
  print_result_of(&line, sum, threads, sweeps, elapsed);
  std::free(data);
}
