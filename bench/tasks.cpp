// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a task costs beside one of oneTBB's task_group, both in this process and in turn: adding it,
// adding and running it in the same worker, and having it stolen by another. Prints a line for each
// round: what, nanoseconds of the library's task, of oneTBB's.
//
// usage: tasks [rounds]
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <nodewise/tasks.hpp>
#include <nodewise/tbb.hpp>

namespace {

constexpr int tasks = 2000;
constexpr int steals = 200;

double nanoseconds() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What one task takes: to add, and to add and run.
struct times {
  double add = 0;
  double add_and_run = 0;
};

/// `spawn(f)` adds a task, `wait()` runs all.
template <class Spawn, class Wait>
times of_tasks(Spawn spawn, Wait wait) {
  long calls = 0;
  const double start = nanoseconds();
  for (int k = 0; k < tasks; ++k) {
    spawn([&calls] { ++calls; });
  }
  const double added = nanoseconds();
  wait();
  const double ended = nanoseconds();
  if (calls != tasks) {
    std::abort();
  }
  return {(added - start) / tasks, (ended - start) / tasks};
}

/// From the moment at which a task is added until another worker has run it: the one that added it
/// only looks on.
template <class Spawn>
double of_steals(Spawn spawn) {
  std::atomic<int> ran{0};
  const double start = nanoseconds();
  for (int k = 1; k <= steals; ++k) {
    spawn([&ran, k] { ran.store(k, std::memory_order_release); });
    while (ran.load(std::memory_order_acquire) != k) {
    }
  }
  return (nanoseconds() - start) / steals;
}

times library_tasks(nodewise::tbb_teams& one) {
  times found;
  (void)nodewise::run_tasks(one, [&found](nodewise::task_group& group) {
    const nodewise::node_id own = nodewise::detail::this_worker->self().node;
    found = of_tasks([&](auto f) { group.spawn(own, f); }, [&] { group.wait(); });
  });
  return found;
}

times tbb_tasks(tbb::task_arena& one) {
  return one.execute([] {
    tbb::task_group group;
    return of_tasks([&](auto f) { group.run(f); }, [&] { group.wait(); });
  });
}

double library_steals(nodewise::tbb_teams& two) {
  double found = 0;
  (void)nodewise::run_tasks(two, [&found](nodewise::task_group& group) {
    found = of_steals([&](auto f) { group.spawn(f); });
  });
  return found;
}

double tbb_steals(tbb::task_arena& two) {
  return two.execute([] {
    tbb::task_group group;
    const double found = of_steals([&](auto f) { group.run(f); });
    group.wait();
    return found;
  });
}

void print(const char* what, double library, double tbb) {
  std::printf("%s %.1f %.1f\n", what, library, tbb);
}

} // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 20;
  const auto machine = nodewise::topology::system();
  nodewise::tbb_teams one(machine, {.threads = 1});
  nodewise::tbb_teams two(machine, {.threads = 2});
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 2);
  tbb::task_arena arena_of_one(1);
  tbb::task_arena arena_of_two(2);
  for (int round = -2; round < rounds; ++round) { // two that nobody sees, for caches and threads
    std::array<times, 2> added;
    std::array<double, 2> stolen{};
    for (const int who : round % 2 == 0 ? std::array{0, 1} : std::array{1, 0}) {
      const auto at = static_cast<std::size_t>(who);
      added[at] = who == 0 ? library_tasks(one) : tbb_tasks(arena_of_one);
      stolen[at] = who == 0 ? library_steals(two) : tbb_steals(arena_of_two);
    }
    if (round >= 0) {
      print("add", added[0].add, added[1].add);
      print("add-and-run", added[0].add_and_run, added[1].add_and_run);
      print("steal", stolen[0], stolen[1]);
    }
  }
}
