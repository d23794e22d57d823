// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Node teams of OpenMP threads. Header-only, so the threads belong to the OpenMP runtime that your
// program uses: compile with OpenMP, and link nodewise::openmp.
//
//     nodewise::openmp_teams teams; // a thread for each core, a team for each node
//     nodewise::array<double> a(1 << 20, teams.blocked());
//     teams.fill(a, 1.0);
//     const auto bound = teams.runtime().keep_bound(); // plain loops run on the same threads:
//     #pragma omp parallel for schedule(static)
//     for (std::size_t i = 0; i < a.size(); ++i) {
//       a[i] *= 2.0;
//     }
#pragma once

#ifndef _OPENMP
#error "<nodewise/openmp.hpp> needs OpenMP: compile with -fopenmp, or link nodewise::openmp"
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <omp.h>

#include <nodewise/affinity.hpp>
#include <nodewise/node_teams.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// The worker and the runtime object for which the calling thread is bound. OpenMP reuses its
/// threads, so this avoids the system call of binding again. `before` is kept by thread, because
/// a thread may be several workers in turn.
struct bound_as {
  std::uint64_t runtime = 0; ///< 0: not bound
  std::size_t worker = 0;
  cpu_set before;
};
inline thread_local bound_as bound_thread;
/// The number of runtime objects made so far. Addresses are reused; these numbers are not.
inline std::atomic<std::uint64_t> runtimes_made{0};

} // namespace detail

/// Threads of OpenMP's pool: worker k is thread k of the team. If OMP_PROC_BIND (or the like) has
/// bound them, they stay there and `threads()` reports the places; otherwise each is bound to its
/// place when it is first used. The calling thread is bound only while a loop runs, and not for a
/// loop that begins within 0.1 ms of the last one if it runs on its place in any case: its system
/// calls would take longer than the loop. The destructor restores the processors of all threads.
class openmp_runtime {
 public:
  /// Lays out the threads by `how`. Throws `error` (usage) if no processor is allowed, or if a
  /// thread may run on several nodes.
  openmp_runtime(const topology& where, const layout_options& how)
      : adopted_(omp_get_proc_bind() != omp_proc_bind_false),
        threads_(where, adopted_ ? bound_layout(where, how) : team_layout(where, how)),
        number_(++detail::runtimes_made) {
    if (adopted_) {
      notes_.emplace_back("threads stay where OMP_PROC_BIND and OMP_PLACES have bound them");
    }
  }
  openmp_runtime(const openmp_runtime&) = delete;
  openmp_runtime& operator=(const openmp_runtime&) = delete;
  ~openmp_runtime() { give_back(); }

  /// Returns the workers and their nodes.
  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }
  /// The old name of `threads()`.
  [[deprecated("use threads()")]] [[nodiscard]] const thread_map& who() const noexcept {
    return threads();
  }
  /// Returns sentences on what differs from the request, or was adopted from OpenMP's settings.
  [[nodiscard]] std::span<const std::string> notes() const noexcept { return notes_; }

  /// Binds all threads, and keeps the calling thread bound between loops while the result lives,
  /// which saves two system calls per loop. Plain OpenMP regions that the calling thread starts
  /// meanwhile have the same threads, so `schedule(static)` works on the pages that `blocked`
  /// placed. The thread that called must destroy the result. Throws as `run`.
  [[nodiscard]] auto keep_bound() { return binding_keeper(*this); }
  /// The old name of `keep_bound()`.
  [[deprecated("use keep_bound()")]] [[nodiscard]] auto hold() { return keep_bound(); }

  /// Calls `f(worker)` once for each worker, on a processor of its node, and returns when all calls
  /// have ended. Throws the first exception of `f`, and `error` (system) if a thread cannot be
  /// bound.
  template <class F>
  void run(F&& f) {
    const caller_guard caller(*this);
    detail::first_exception failed;
    const auto workers = threads_.workers();
    in_parallel(workers.size(), failed, [&](std::size_t k) {
      if (k != 0 || !caller.stays_unbound()) {
        bind(workers[k]);
      }
      f(workers[k]);
    });
    failed.rethrow();
  }

  /// Returns the number of threads that run the current loop, for its body. OpenMP may give fewer
  /// than there are workers (OMP_THREAD_LIMIT, nested regions); a thread is then several workers in
  /// turn.
  [[nodiscard]] static std::size_t threads_of_loop() noexcept {
    return static_cast<std::size_t>(omp_get_num_threads());
  }

  /// Calls `f(team)` once for each team, with its position in `threads().teams()`, on the
  /// processors of its node. Throws as `run`.
  template <class F>
  void run_nodes(F&& f) {
    detail::first_exception failed;
    const auto teams = threads_.teams();
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(std::max(levels, omp_get_active_level() + 2));
    in_parallel(teams.size(), failed, [&](std::size_t k) {
      const affinity_guard back;
      set_thread_affinity(teams[k].cpus);
      f(k);
    });
    omp_set_max_active_levels(levels);
    failed.rethrow();
  }

  /// Calls `f(worker)` once for each worker of a team. For use inside `run_nodes`. Throws as `run`.
  template <class F>
  void run_team(std::size_t team, F&& f) {
    detail::first_exception failed;
    const auto& workers = threads_.teams()[team].workers;
    in_parallel(workers.size(), failed, [&](std::size_t k) {
      const affinity_guard back;
      set_thread_affinity(threads_.places()[workers[k]].place);
      f(threads_.workers()[workers[k]]);
    });
    failed.rethrow();
  }

 private:
  using clock = std::chrono::steady_clock;

  /// Restores the calling thread's processors when a loop ends.
  class caller_guard {
   public:
    explicit caller_guard(openmp_runtime& of) : used_(!of.adopted_ && !of.keeps_bound_) {
      if (!used_) {
        return;
      }
      constexpr std::chrono::microseconds short_loop{100};
      const clock::time_point now = clock::now();
      const bool last_was_short = now - std::exchange(of.last_began_, now) < short_loop;
      unbound_ = last_was_short && detail::bound_thread.runtime == 0 &&
                 of.threads_.places()[0].place.contains(current_cpu());
      if (!unbound_) {
        before_ = thread_affinity();
        bound_before_ = detail::bound_thread;
      }
    }
    caller_guard(const caller_guard&) = delete;
    caller_guard& operator=(const caller_guard&) = delete;
    ~caller_guard() {
      if (!used_) {
        return;
      }
      if (!unbound_) {
        detail::bound_thread = std::move(bound_before_);
        (void)try_set_thread_affinity(before_);
      } else if (detail::bound_thread.runtime != 0) { // it was other workers, too
        detail::bound_thread.runtime = 0;
        (void)try_set_thread_affinity(detail::bound_thread.before);
      }
    }

    [[nodiscard]] bool stays_unbound() const noexcept { return unbound_; }

   private:
    bool used_;
    bool unbound_ = false;
    cpu_set before_;
    detail::bound_as bound_before_; ///< in a nested loop the thread is a worker already
  };

  class binding_keeper {
   public:
    /// Delegates, so that the destructor restores everything if a thread cannot be bound.
    explicit binding_keeper(openmp_runtime& of) : binding_keeper(of, omp_get_max_threads()) {
      of.run([](const worker&) {});
    }
    binding_keeper(const binding_keeper&) = delete;
    binding_keeper& operator=(const binding_keeper&) = delete;
    ~binding_keeper() {
      omp_set_num_threads(threads_before_);
      of_.keeps_bound_ = before_;
    }

   private:
    binding_keeper(openmp_runtime& of, int threads_before)
        : guard_(of), of_(of), before_(of.keeps_bound_), threads_before_(threads_before) {
      of_.keeps_bound_ = true;
      omp_set_num_threads(count(of_.threads_.workers().size()));
    }

    caller_guard guard_;
    openmp_runtime& of_;
    bool before_;
    int threads_before_;
  };

  static int count(std::size_t threads) noexcept { return static_cast<int>(threads); }

  /// Calls `f(0)` to `f(calls - 1)`, each on a thread of its own, and keeps the first exception.
  template <class F>
  static void in_parallel(std::size_t calls, detail::first_exception& failed, const F& f) {
#pragma omp parallel num_threads(count(calls))
    {
      const auto all = static_cast<std::size_t>(omp_get_num_threads());
      // OpenMP may give fewer threads (OMP_THREAD_LIMIT, nested regions); they do all the work.
      for (auto k = static_cast<std::size_t>(omp_get_thread_num()); k < calls; k += all) {
        failed.guard([&] { f(k); });
      }
    }
  }

  /// The layout of the threads as OpenMP has bound them.
  static team_layout bound_layout(const topology& where, const layout_options& how) {
    const int asked = how.threads == 0 ? omp_get_max_threads() : count(how.threads);
    std::vector<cpu_set> places(static_cast<std::size_t>(asked));
    detail::first_exception failed;
#pragma omp parallel num_threads(asked)
    {
      const auto me = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp single
      places.resize(static_cast<std::size_t>(omp_get_num_threads()));
      failed.guard([&] { places[me] = thread_affinity(); });
    }
    failed.rethrow();
    return team_layout::bound(where, places);
  }

  void bind(const worker& me) {
    detail::bound_as& thread = detail::bound_thread;
    if (adopted_ || (thread.runtime == number_ && thread.worker == me.number)) {
      return;
    }
    if (thread.runtime == 0) {
      thread.before = thread_affinity();
    }
    set_thread_affinity(threads_.places()[me.number].place);
    thread.runtime = number_;
    thread.worker = me.number;
    has_bound_.store(true, std::memory_order_relaxed);
  }

  void give_back() noexcept {
    if (!has_bound_.load(std::memory_order_relaxed)) {
      return; // no thread was bound here
    }
#pragma omp parallel num_threads(count(threads_.workers().size()))
    {
      detail::bound_as& thread = detail::bound_thread;
      if (thread.runtime == number_) {
        thread.runtime = 0;
        (void)try_set_thread_affinity(thread.before);
      }
    }
  }

  bool adopted_;
  bool keeps_bound_ = false;
  clock::time_point last_began_{}; ///< of the last loop that `run` ran without `keep_bound`
  thread_map threads_;
  std::uint64_t number_; ///< unique among all runtime objects of the process
  std::atomic<bool> has_bound_ = false;
  std::vector<std::string> notes_;
};

/// Teams of OpenMP threads, one for each node.
using openmp_teams = basic_node_teams<openmp_runtime>;

} // namespace nodewise::inline v0
