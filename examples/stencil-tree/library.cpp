// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// stencil-tree with the library, by OpenMP: one recursion over all rows, in which each task is at
// home with its rows. No part of the program knows how many nodes there are.
//
// Remote share of the use phase: the two rows beside each block, and what idle workers steal.
//
// usage: stencil-tree-library [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdio>
#include <nodewise/marker.h>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"
#include "stencil_tree.hpp"

namespace {

class fork_at_home {
 public:
  explicit fork_at_home(const nodewise::array<double>& grid) : grid_(grid) {}

  template <class Left, class Right>
  void operator()(std::size_t first, const Left& left, std::size_t half, const Right& right) const {
    nodewise::task_group both;
    both.spawn(grid_, first, left);
    both.spawn(grid_, half, right);
    both.wait();
  }

 private:
  const nodewise::array<double>& grid_;
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"stencil-tree-library", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 8) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  say_what_fails();

  nodewise::openmp_teams teams(nodewise::topology::system(),
                               {.threads = static_cast<std::size_t>(threads)});
  // Rows are pages, so arrays begin with a page.
  nodewise::array<double> now(n, teams.blocked(), {.staggered = false});
  nodewise::array<double> next(n, teams.blocked(), {.staggered = false});
  teams.fill(now, 0.0);
  teams.fill(next, 0.0);
  const std::size_t rows = n / page_doubles;
  stencil_tree tree(now.data(), next.data(), rows, fork_at_home(now));

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  const nodewise::task_statistics done =
      nodewise::run_tasks(teams,
                          [&](nodewise::task_group&) {
                            tree.fill(0, rows);
                            for (int sweep = 0; sweep < sweeps; ++sweep) {
                              tree.step(0, rows);
                              tree.swap();
                            }
                            sum = tree.sum(0, rows);
                          },
                          {nodewise::steal::never});
  print_result(line, sum, teams, sweeps, seconds() - start);
  std::printf("%s\n", to_string(done).c_str());
}
