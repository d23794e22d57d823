// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#ifndef NODEWISE_EXAMPLES_QUAD_TASK_GROUP_FORK_HPP
#define NODEWISE_EXAMPLES_QUAD_TASK_GROUP_FORK_HPP

#include <memory_resource>
#include <oneapi/tbb/task_group.h>

#include "../shared/task_moves.hpp"
#include "quad_tree.hpp"

// Tasks of oneTBB, for any worker of the arena.
struct task_group_fork {
  template <class Parts, class F>
  void operator()(const Parts& parts, const F& f) const {
    tbb::task_group all;
    for (auto& each : parts) {
      all.run(noting_moves([&f, &each] { f(each); }));
    }
    all.wait();
  }
  // On the node of the thread that divides a cell.
  [[nodiscard]] static std::pmr::memory_resource* memory_of(const part&) {
    return std::pmr::new_delete_resource();
  }
};

#endif
