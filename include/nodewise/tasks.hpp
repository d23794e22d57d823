// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Trees of tasks on node teams: each task runs on the node of its data, and idle workers steal from
// their own core and node first.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::array<double> a(1 << 20, teams.blocked());
//     const auto done = nodewise::run_tasks(teams, [&](nodewise::task_group& halves) {
//       for (const std::size_t first : {std::size_t{0}, a.size() / 2}) {
//         halves.spawn(a, first, [&a, first] { // on the node that owns this element
//           nodewise::task_group nested; // tasks spawn tasks
//           nested.spawn([&a, first] { std::fill_n(&a[first], a.size() / 2, 0.5); });
//           nested.wait();
//         });
//       }
//     });
//     std::puts(nodewise::to_string(done).c_str());
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

#include <nodewise/node_teams.hpp>
#include <nodewise/task_group.hpp>
#include <nodewise/task_statistics.hpp>

namespace nodewise::inline v0 {

/// Options of `run_tasks`.
struct task_options {
  /// Whether idle workers take tasks of other nodes. `local_first`: only after some searches of
  /// their own node have found nothing, and of the nearest nodes first. `never`: a task with a home
  /// runs there, and its descendants stay there unless they have other homes. A node's tasks then
  /// wait for its own workers; if the runtime has no threads for them, others run the tasks. `any`:
  /// of any worker at random.
  steal across = steal::local_first;
};

/// Returns a size of parts below which a recursion should no longer make tasks: about 32 parts for
/// each worker, but no part smaller than `least`.
[[nodiscard]] NODEWISE_API std::size_t task_cut_off(std::size_t size, const thread_map& threads,
                                                    std::size_t least = 1) noexcept;

/// Calls `f(group)` in one worker, while the others run tasks; returns when all tasks have ended.
/// Idle workers search for a moment, and then sleep. Throws the first exception of `f`, or of a
/// task of its group that `f` did not wait for, after all tasks have ended.
///
/// The call is a loop of the teams, and the same rules apply: one at a time for an object. A task
/// can call it with other teams. With the teams that run the task it throws `error` (usage): spawn
/// the tasks in a group of the task instead.
template <class Runtime, class F>
task_statistics run_tasks(basic_node_teams<Runtime>& teams, F&& f, task_options how = {}) {
  static_assert(std::invocable<F&, task_group&>,
                "the body of run_tasks takes the group: f(nodewise::task_group&)");
  detail::task_scheduler scheduler(teams.threads(), how.across);
  const auto root = [](void* body) {
    task_group all;
    std::invoke(*static_cast<std::remove_reference_t<F>*>(body), all);
    all.wait();
  };
  void* const body = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
  teams.on_each_worker([&](const worker& me) {
    if constexpr (requires { teams.runtime().threads_of_loop(); }) {
      scheduler.expect(teams.runtime().threads_of_loop());
    }
    scheduler.enter(me, root, body);
  });
  return scheduler.statistics();
}

} // namespace nodewise::inline v0
