// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// tasks, as it is usually written with oneTBB: the main thread fills an array, parallel_for cuts
// the loop into tasks, and any worker takes any of them. Where a piece of the array is used changes
// from sweep to sweep, so no first touch could be right.
//
// Remote share of the use phase, with n nodes: (n-1)/n.
// Source: Hager and Wellein, section 8.3.1, on dynamic scheduling and tasks; Pro TBB, chapter 20.
//
// usage: tasks [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <nodewise/marker.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include "../shared/command_line.h"
#include "../shared/result_line.h"
#include "pieces.hpp"

int main(int argc, char** argv) {
  const command_line line = {"tasks", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t bytes = bytes_at(&line, 1, 16);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  auto* data = static_cast<double*>(std::aligned_alloc(page_bytes, bytes)); // made
  if (data == nullptr) {
    return no_memory(&line, bytes);
  }
  const range all(0, bytes / sizeof(double), page_doubles);

  for (std::size_t i = all.begin(); i < all.end(); ++i) {
    data[i] = 0.0; // touch
  }

  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += arena.execute([&] {
      return tbb::parallel_reduce(
          all, 0.0,
          [&](const range& piece, double before) { return before + add_one(data, piece); },
          std::plus<>());
    });
  }
  print_result_of(&line, sum, threads, sweeps, seconds() - start);
  std::free(data);
}
