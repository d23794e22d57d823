// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#ifndef NODEWISE_EXAMPLES_STENCIL_TASK_GROUP_FORK_HPP
#define NODEWISE_EXAMPLES_STENCIL_TASK_GROUP_FORK_HPP

#include <cstddef>
#include <oneapi/tbb/task_group.h>

#include "../shared/task_moves.hpp"

// Two tasks of oneTBB, for any worker of the arena.
struct task_group_fork {
  template <class Left, class Right>
  void operator()(std::size_t, const Left& left, std::size_t, const Right& right) const {
    tbb::task_group both;
    both.run(noting_moves(right));
    both.run_and_wait(left);
  }
};

#endif
