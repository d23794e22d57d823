// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How many tasks run on another node than the thread that spawned them. oneTBB and OpenMP do not
// count this. The program that includes it has _GNU_SOURCE, as g++ and clang++ define it.
#ifndef NODEWISE_EXAMPLES_TASK_MOVES_HPP
#define NODEWISE_EXAMPLES_TASK_MOVES_HPP

#include <atomic>
#include <cstdio>
#include <sched.h>

inline std::atomic<unsigned long> moved_tasks{0};

inline unsigned node_of_this_thread() {
  unsigned cpu = 0;
  unsigned node = 0;
  getcpu(&cpu, &node); // never fails with these addresses
  return node;
}

// `f` as a task that notes whether it has come to another node. Call this where it is spawned.
template <class F>
auto noting_moves(F f) {
  return [f, from = node_of_this_thread()] {
    if (node_of_this_thread() != from) {
      moved_tasks.fetch_add(1, std::memory_order_relaxed);
    }
    f();
  };
}

inline void print_moved_tasks() {
  std::printf("%lu tasks ran on another node than the thread that spawned them\n",
              moved_tasks.load());
}

#endif
