// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// quad-tree with the library, by OpenMP: one recursion over all cells, in which each task is at
// home with the particles of its cell, and the quadrants of a cell are on that node, too. No part
// of the program knows how many nodes there are.
//
// Remote share of the use phase: neighbours in other blocks, and small cells in which two blocks
// meet.
//
// usage: quad-tree-library [MiB] [sweeps] [threads]
#include <cstddef>
#include <cstdio>
#include <memory_resource>
#include <nodewise/marker.h>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>

#include "../shared/library.hpp"
#include "quad_tree.hpp"

namespace {

class fork_at_home {
 public:
  explicit fork_at_home(const nodewise::array<particle>& particles) : particles_(particles) {}

  template <class Parts, class F>
  void operator()(const Parts& parts, const F& f) const {
    nodewise::task_group all;
    for (auto& each : parts) {
      all.spawn(particles_, middle(each), [&f, &each] { f(each); });
    }
    all.wait();
  }
  [[nodiscard]] std::pmr::memory_resource* memory_of(const part& some) const {
    return &nodewise::resource_on(owner_of(particles_, middle(some)));
  }

 private:
  static std::size_t middle(const part& some) { return some.first + (some.last - some.first) / 2; }

  const nodewise::array<particle>& particles_;
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"quad-tree-library", "[MiB] [sweeps] [threads]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 8) / sizeof(particle);
  const int sweeps = sweeps_at(&line, 2);
  const int threads = threads_at(&line, 3);
  end_at(&line, 3);
  say_what_fails();

  nodewise::openmp_teams teams(nodewise::topology::system(),
                               {.threads = static_cast<std::size_t>(threads)});
  nodewise::array<particle> particles(n, teams.blocked());
  teams.fill(particles, particle());
  quad_tree tree(particles.data(), n, fork_at_home(particles));

  NODEWISE_MARKER_USE();
  double sum = 0;
  nodewise::task_statistics done;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    done += nodewise::run_tasks(teams,
                                [&](nodewise::task_group&) {
                                  tree.move({0, n}, sweep);
                                  tree.build(tree.root());
                                  tree.search(tree.root());
                                  sum += tree.sum(tree.root());
                                  tree.clear(tree.root());
                                },
                                {nodewise::steal::never});
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
  std::printf("%s\n", to_string(done).c_str());
}
