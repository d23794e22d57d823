// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Two runtimes of threads in one program, which get the same blocks, and leave all processors to
// the program when they are done.
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>

#include <nodewise/nodewise.hpp>
#include <nodewise/openmp.hpp>
#include <nodewise/tbb.hpp>

namespace {

template <class Teams>
bool sums_up(const nodewise::topology& machine) {
  constexpr std::size_t n = 1 << 20;
  Teams teams(machine);
  nodewise::array<double> a(n, teams.blocked());
  teams.fill(a, 0.5);
  const double sum = teams.reduce_owned(
      a, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  std::printf("%s\n", a.strip().c_str());
  std::size_t at_home = 0;
  const auto done = nodewise::run_tasks(
      teams, [&](nodewise::task_group& group) { group.spawn(a, 0, [&] { at_home = a.size(); }); });
  std::printf("%s\n", to_string(done).c_str());
  return at_home == n && done.tasks() == 1 && sum == n / 2 &&
         a.residency().locality().value_or(1) == 1;
}

} // namespace

int main() {
  const auto machine = nodewise::topology::system();
  const auto before = nodewise::thread_affinity();
  const bool openmp = sums_up<nodewise::openmp_teams>(machine);
  const bool tbb = sums_up<nodewise::tbb_teams>(machine);
  return openmp && tbb && nodewise::thread_affinity() == before ? 0 : 1;
}
