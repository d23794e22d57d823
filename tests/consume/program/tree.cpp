// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A sum by a tree of tasks, each on the node of its part of the array.
#include <cstddef>
#include <cstdio>
#include <numeric>

#include <nodewise/openmp.hpp>
#include <nodewise/tasks.hpp>

using numbers = nodewise::array<double>;

// The sum from `first` to `last`: of few numbers at once, else by two tasks.
double sum(const numbers& a, std::size_t first, std::size_t last, std::size_t few) {
  if (last - first <= few) {
    return std::accumulate(a.data() + first, a.data() + last, 0.0);
  }
  const std::size_t half = first + (last - first) / 2;
  double left = 0;
  double right = 0;
  nodewise::task_group both;
  both.spawn(a, first, [&] { left = sum(a, first, half, few); }); // on the node of a[first]
  both.spawn(a, half, [&] { right = sum(a, half, last, few); });
  both.wait(); // runs tasks meanwhile
  return left + right;
}

int main() {
  nodewise::openmp_teams teams;        // one bound thread for each core
  numbers a(1 << 20, teams.blocked()); // a block of pages on each node
  teams.fill(a, 0.5);
  const std::size_t few = nodewise::task_cut_off(a.size(), teams.threads());
  double all = 0;
  const nodewise::task_statistics done =
      nodewise::run_tasks(teams, [&](nodewise::task_group&) { all = sum(a, 0, a.size(), few); });
  std::printf("sum %.0f\n%s\n", all, to_string(done).c_str());
  return all == 0.5 * (1 << 20) ? 0 : 1;
}
