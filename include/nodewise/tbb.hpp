// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Node teams of oneTBB workers: one arena a node. A header alone; link nodewise::tbb.
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

/// One arena a node. Whoever enters it is bound to the node's processors and gets its own back when
/// it leaves, so workers whose node has nothing left may help another. The calling thread is one of
/// the first node's team while a loop runs, so a loop waits for one worker less to wake up; in the
/// other arenas all slots are for workers.
class tbb_runtime {
 public:
  /// Throws `error` (usage) if no processor is allowed, or threads may roam over nodes.
  tbb_runtime(const topology& where, const layout_options& how)
      : threads_(where, team_layout(where, how)),
        workers_(tbb::global_control::max_allowed_parallelism, threads_.workers().size() + 1) {
    for (const node_team& team : threads_.teams()) {
      arenas_.push_back(std::make_unique<node_arena>(team, arenas_.empty() ? 1U : 0U));
    }
  }

  /// Who works where.
  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }
  /// The old name of `threads()`.
  [[deprecated("use threads()")]] [[nodiscard]] const thread_map& who() const noexcept {
    return threads();
  }
  /// Sentences about what is not as asked, or was adopted from outside.
  [[nodiscard]] std::span<const std::string> notes() const noexcept { return {}; }

  /// Calls `f(worker)` once for each worker, on a processor of its node; returns when all have
  /// ended. Throws the first exception of `f`, and `error` (system) where a thread cannot be bound.
  template <class F>
  void run(F&& f) {
    run_nodes([&](std::size_t team) { run_team(team, f); });
  }

  /// Calls `f(team)` once for each team, by its position, on the processors of its node. Throws as
  /// `run`.
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

  /// Calls `f(worker)` once for each worker of a team. To be called inside `run_nodes`, where the
  /// arena is the team's. Throws as `run`.
  template <class F>
  void run_team(std::size_t team, F&& f) {
    const auto& workers = threads_.teams()[team].workers;
    // Left to oneTBB an exception would keep other workers from beginning.
    detail::first_exception failed;
    tbb::parallel_for(
        std::size_t{0}, workers.size(),
        [&](std::size_t k) { failed.guard([&] { f(threads_.workers()[workers[k]]); }); },
        tbb::static_partitioner());
    failed.rethrow();
  }

 private:
  /// Binds who enters an arena, and gives back what they had when they leave.
  class binder : public tbb::task_scheduler_observer {
   public:
    binder(tbb::task_arena& arena, cpu_set cpus)
        : tbb::task_scheduler_observer(arena), cpus_(std::move(cpus)) {
      observe(true);
    }
    binder(const binder&) = delete;
    binder& operator=(const binder&) = delete;
    ~binder() override { observe(false); }

    // Where the mask is the node's already, as on a machine of one, it is left alone: setting it
    // takes about a microsecond.
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
    /// Of the calling thread: an arena can be entered from within another.
    static std::vector<cpu_set>& before() {
      static thread_local std::vector<cpu_set> masks;
      return masks;
    }

    cpu_set cpus_;
  };

  struct node_arena {
    /// Slots are reserved for threads that call: one kept for a thread that never comes is a
    /// processor that idles.
    node_arena(const node_team& team, unsigned callers)
        : arena(static_cast<int>(team.workers.size()), callers), observer(arena, team.cpus) {}

    tbb::task_arena arena;
    binder observer;
  };

  thread_map threads_;
  tbb::global_control workers_;
  std::vector<std::unique_ptr<node_arena>> arenas_;
};

/// One oneTBB arena a node.
using tbb_teams = basic_node_teams<tbb_runtime>;

} // namespace nodewise::inline v0
