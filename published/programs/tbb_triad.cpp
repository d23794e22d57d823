// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pro TBB, chapter 20: the triad by threads of TBB. `usual`: the main thread fills the arrays and
// one parallel_for works on them. `per-node`: a pinned thread a node has an arena of its own, whose
// workers are pinned to the node, and which touches and uses its part of the arrays.
// Region `once`: initialisation and one sweep; region `loop`: all other sweeps, which meet caches
// as the sweeps before them left them.
//
// The pieces are fixed (static_partitioner), and each thread keeps its share: no piece is worked on
// before all have a thread. Else who wakes early would take the pieces of those who sleep, and in a
// virtual machine, whose processors take turns, that would be many.
//
// usage: tbb-triad usual|per-node [MiB an array] [sweeps]
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "measured.h"

#include "../../examples/shared/nodes.h"

namespace {

using range = tbb::blocked_range<std::size_t>;

struct arrays {
  double* a;
  double* b;
  double* c;
};

void touch(const arrays& of, const range& part) {
  for (std::size_t i = part.begin(); i < part.end(); ++i) {
    of.a[i] = 0.0;
    of.b[i] = 1.0;
    of.c[i] = 2.0;
  }
}

void triad(const arrays& of, const range& part) {
  for (std::size_t i = part.begin(); i < part.end(); ++i) {
    of.a[i] = of.b[i] + 3.0 * of.c[i];
  }
}

// Waits until so many threads do; not for ever, should oneTBB give us fewer.
void meet(std::atomic<int>& arrived, int threads) {
  constexpr std::chrono::seconds patience(20);
  const auto end = std::chrono::steady_clock::now() + patience;
  ++arrived;
  while (arrived < threads && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

// static_partitioner makes a piece for each thread of the arena.
template <class Body>
void in_parallel(const range& all, const Body& body) {
  const int threads = tbb::this_task_arena::max_concurrency();
  std::atomic<int> arrived = 0;
  const auto piece = [&](const range& part) {
    meet(arrived, threads);
    body(part);
  };
  tbb::parallel_for(all, piece, tbb::static_partitioner());
}

void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// Pins each thread that enters an arena to one of these processors, in turn.
class pinning : public tbb::task_scheduler_observer {
 public:
  pinning(tbb::task_arena& arena, std::vector<int> processors)
      : task_scheduler_observer(arena), processors_(std::move(processors)) {
    observe(true);
  }
  ~pinning() override { observe(false); }
  void on_scheduler_entry(bool) override {
    const auto slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    pin(processors_[slot % processors_.size()]);
  }

 private:
  std::vector<int> processors_;
};

// Of each node, the processors that this process may use; nodes without any are left out.
std::vector<std::vector<int>> allowed_by_node() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<std::vector<int>> nodes;
  for (int node = 0; node < most_nodes; ++node) {
    cpu_set_t set;
    if (processors_of(node, &set) == 0) {
      continue;
    }
    std::vector<int> processors;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &set) &&
          CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
        processors.push_back(cpu);
      }
    }
    if (!processors.empty()) {
      nodes.push_back(std::move(processors));
    }
  }
  return nodes;
}

void run_usual(const arrays& of, std::size_t n, int sweeps) {
  const range all(0, n);
  NODEWISE_MARKER_START("once");
  touch(of, all);
  const auto sweep = [&of](const range& part) { triad(of, part); };
  in_parallel(all, sweep);
  NODEWISE_MARKER_STOP("once");
  NODEWISE_MARKER_START("loop");
  for (int s = 0; s < sweeps; ++s) {
    in_parallel(all, sweep);
  }
  NODEWISE_MARKER_STOP("loop");
}

void run_on_node(const arrays& of, const range& part, const std::vector<int>& processors,
                 int sweeps, std::barrier<>& all_touched) {
  pin(processors.front());
  tbb::task_arena arena(static_cast<int>(processors.size()));
  const pinning pinned(arena, processors);
  const auto sweep = [&of](const range& piece) { triad(of, piece); };
  arena.execute([&] {
    in_parallel(part, [&of](const range& piece) { touch(of, piece); });
    in_parallel(part, sweep);
  });
  all_touched.arrive_and_wait(); // the main thread marks the region in between
  all_touched.arrive_and_wait();
  arena.execute([&] {
    for (int s = 0; s < sweeps; ++s) {
      in_parallel(part, sweep);
    }
  });
}

void run_per_node(const arrays& of, std::size_t n, int sweeps) {
  const std::vector<std::vector<int>> nodes = allowed_by_node();
  std::barrier all_touched(static_cast<std::ptrdiff_t>(nodes.size()) + 1);
  std::vector<std::jthread> masters;
  const std::size_t share = n / nodes.size();
  NODEWISE_MARKER_START("once");
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const range part(k * share, k + 1 == nodes.size() ? n : (k + 1) * share);
    masters.emplace_back([&, part, k] { run_on_node(of, part, nodes[k], sweeps, all_touched); });
  }
  all_touched.arrive_and_wait();
  NODEWISE_MARKER_STOP("once");
  NODEWISE_MARKER_START("loop");
  all_touched.arrive_and_wait();
  masters.clear();
  NODEWISE_MARKER_STOP("loop");
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"tbb-triad", "usual|per-node [MiB an array] [sweeps]", argc, argv};
  const std::string_view form = text_at(&line, 1, "");
  const bool usual = form == "usual";
  if (!usual && form != "per-node") {
    refuse(&line, form.data(), "usual or per-node");
  }
  const std::size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  end_at(&line, 3);
  auto* all = static_cast<double*>(std::aligned_alloc(page_bytes, 3 * bytes));
  if (all == nullptr) {
    return no_memory(&line, 3 * bytes);
  }
  const std::size_t n = bytes / sizeof(double);
  const arrays of = {all, all + n, all + 2 * n};
  (usual ? run_usual : run_per_node)(of, n, sweeps);
  say_bytes("loop", 3 * bytes * static_cast<std::size_t>(sweeps));
  printf("a: %g to %g\n", of.a[0], of.a[n - 1]);
  std::free(all);
}
