// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// With WRONG_CALLS, calls that must not compile, each with a sentence of the library's own that
// says why; without, the right ones. See wrong_calls_test.py.
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <nodewise/openmp.hpp>
#include <nodewise/owned_span.hpp>
#include <nodewise/tasks.hpp>

void calls(nodewise::openmp_teams& teams, nodewise::array<double>& a, std::vector<double>& v) {
  using nodewise::over;
  const auto sum = [](std::span<double> part) { return part.front(); };
  auto owned = nodewise::owned_span(std::span(v), teams.blocked());
#ifndef WRONG_CALLS
  teams.for_each_owned(a, [](std::span<double>) {});
  teams.for_each_owned(over(a, owned), [](std::size_t, auto x, auto y) { x[0] = y[0]; });
  (void)teams.reduce_owned(a, 0.0, sum, std::plus<>());
  (void)nodewise::run_tasks(teams, [&](nodewise::task_group& group) { group.spawn(a, 0, [] {}); });
  teams.on_each_node([](auto team) { team.on_each_worker([](const nodewise::worker&) {}); });
#else
  teams.for_each_owned(a, [](double& each) { each = 0; });
  teams.for_each_owned(over(a, owned), [](std::span<double>) {});
  teams.for_each_owned(v, [](std::span<double>) {});
  teams.for_each_owned(over(a, v), [](std::span<double>, std::span<double>) {});
  (void)teams.reduce_owned(a, 0.0, [](double each) { return each; }, std::plus<>());
  (void)teams.reduce_owned(a, 0.0, [](std::span<double>) {}, std::plus<>());
  std::vector<float> w(v.size());
  (void)teams.reduce_owned(w, 0.0, [](std::span<float>) { return 0.0; }, std::plus<>());
  teams.on_each_node([](std::size_t) {});
  teams.on_each_worker([] {});
  (void)nodewise::run_tasks(teams, [] {});
  (void)nodewise::run_tasks(teams, [&](nodewise::task_group& group) { group.spawn([](int) {}); });
#endif
}
