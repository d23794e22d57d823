// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Node teams of oneTBB workers: one arena for each node. Header-only; link nodewise::tbb.
//
//     nodewise::tbb_teams teams; // a worker for each core, an arena for each node
//     nodewise::array<double> a(1 << 20, teams.blocked());
//     teams.fill(a, 1.0);
//     const nodewise::loop_statistics done =
//         teams.for_each_owned(a, [](std::span<double> part) { std::ranges::sort(part); });
//     std::puts(nodewise::to_string(done).c_str());
#pragma once

#include <algorithm>
#include <cstddef>
#include <latch>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <nodewise/affinity.hpp>
#include <nodewise/node_teams.hpp>

namespace nodewise::inline v0 {

/// oneTBB workers in one arena for each node. A thread that enters an arena is bound to the node's
/// processors, and gets its former ones back when it leaves, so idle workers may help another node.
/// While a loop runs, the calling thread belongs to the first node's team, so the loop waits for
/// one worker less to wake up; in the other arenas all slots are for workers.
class tbb_runtime {
 public:
  /// Lays out the threads by `how`. Throws `error` (usage) if no processor is allowed, or if a
  /// thread may run on several nodes.
  tbb_runtime(const topology& where, const layout_options& how)
      : threads_(where, team_layout(where, how)),
        workers_(tbb::global_control::max_allowed_parallelism, threads_.workers().size() + 1) {
    for (const node_team& team : threads_.teams()) {
      arenas_.push_back(std::make_unique<node_arena>(team, arenas_.empty() ? 1U : 0U));
    }
  }

  /// Returns the workers and their nodes.
  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }
  /// The old name of `threads()`.
  [[deprecated("use threads()")]] [[nodiscard]] const thread_map& who() const noexcept {
    return threads();
  }
  /// Returns sentences on what differs from the request; with oneTBB there are none.
  [[nodiscard]] std::span<const std::string> notes() const noexcept { return {}; }

  /// Calls `f(worker)` once for each worker, on a processor of its node, and returns when all calls
  /// have ended. Throws the first exception of `f`, and `error` (system) if a thread cannot be
  /// bound.
  template <class F>
  void run(F&& f) {
    run_nodes([&](std::size_t team) { run_team(team, f); });
  }

  /// Calls `f(team)` once for each team, with its position in `threads().teams()`, on the
  /// processors of its node. Throws as `run`.
  template <class F>
  void run_nodes(F&& f) {
    detail::first_exception failed;
    std::latch others(static_cast<std::ptrdiff_t>(arenas_.size() - 1));
    for (std::size_t team = 1; team < arenas_.size(); ++team) {
      arenas_[team]->arena.enqueue([&, team] {
        failed.guard([&] { f(team); });
        others.count_down();
      });
    }
    failed.guard([&] { arenas_.front()->arena.execute([&] { f(std::size_t{0}); }); });
    others.wait();
    failed.rethrow();
  }

  /// Calls `f(worker)` once for each worker of a team. Call it only inside `run_nodes`, in the
  /// team's arena. Throws as `run`.
  template <class F>
  void run_team(std::size_t team, F&& f) {
    const auto& workers = threads_.teams()[team].workers;
    // If oneTBB saw an exception, it would not start the remaining workers. A worker that waits for
    // oneTBB's tasks of its own must not become another worker meanwhile, and be two at once.
    detail::first_exception failed;
    tbb::parallel_for(
        std::size_t{0}, workers.size(),
        [&](std::size_t k) {
          failed.guard(
              [&] { tbb::this_task_arena::isolate([&] { f(threads_.workers()[workers[k]]); }); });
        },
        tbb::static_partitioner());
    failed.rethrow();
  }

 private:
  /// Binds threads that enter an arena, and restores their processors when they leave.
  class binder : public tbb::task_scheduler_observer {
   public:
    binder(tbb::task_arena& arena, cpu_set cpus)
        : tbb::task_scheduler_observer(arena), cpus_(std::move(cpus)) {
      observe(true);
    }
    binder(const binder&) = delete;
    binder& operator=(const binder&) = delete;
    ~binder() override { observe(false); }

    // Does not set a mask that is set already, as on a machine with one node: setting it takes
    // about a microsecond.
    void on_scheduler_entry(bool) override {
      before().push_back(thread_affinity());
      if (before().back() != cpus_) {
        set_thread_affinity(cpus_);
      }
    }
    void on_scheduler_exit(bool) override {
      if (!before().empty()) {
        if (before().back() != cpus_) {
          (void)try_set_thread_affinity(before().back());
        }
        before().pop_back();
      }
    }

   private:
    /// The calling thread's former masks; a stack, because arenas can be nested.
    static std::vector<cpu_set>& before() {
      static thread_local std::vector<cpu_set> masks;
      return masks;
    }

    cpu_set cpus_;
  };

  struct node_arena {
    /// Reserves slots only for threads that do call: a reserved slot that no thread takes leaves a
    /// processor idle.
    node_arena(const node_team& team, unsigned callers)
        : arena(static_cast<int>(team.workers.size()), callers), observer(arena, team.cpus) {}

    tbb::task_arena arena;
    binder observer;
  };

  thread_map threads_;
  tbb::global_control workers_;
  std::vector<std::unique_ptr<node_arena>> arenas_;
};

/// Teams of oneTBB workers, one for each node.
using tbb_teams = basic_node_teams<tbb_runtime>;

} // namespace nodewise::inline v0
