// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Groups of tasks that run on the node of their data.
//
//     #include <nodewise/openmp.hpp>
//     #include <nodewise/tasks.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::array<double> a(1 << 20, teams.blocked());
//     nodewise::run_tasks(teams, [&](nodewise::task_group& group) {
//       for (std::size_t first = 0; first < a.size(); first += 1 << 16) {
//         const auto part = std::span(a.data() + first, 1 << 16);
//         group.spawn(a, first, [part] { std::ranges::fill(part, 1.0); }); // on the part's node
//       }
//     });
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <nodewise/detail/first_exception.hpp>
#include <nodewise/detail/tasks/scheduler.hpp>
#include <nodewise/owned_loop.hpp>

namespace nodewise::inline v0 {

/// Returns the node of the page that holds an address, as the kernel reports it; `unknown_node` if
/// the page is not in memory, or the kernel does not report it. A system call of about 0.3 us.
[[nodiscard]] NODEWISE_API node_id node_of(const void* address) noexcept;

/// How a group ended.
enum class task_status {
  complete,  ///< all of its tasks ran
  cancelled, ///< it was cancelled, or a group around it: some of its tasks may not have run
};

/// Tasks that are waited for together. The home of a task is the node that should run it: given by
/// number, by an element of a placed array, or by an address. A task without a home, or with one
/// that is not known, waits at the worker that spawned it. A node without workers is represented by
/// the nearest that has some, unless all are equally near.
///
/// Make a group in the function that `run_tasks` calls, or in a task; a group in a task is nested
/// in the task's group. Tasks may spawn into all groups that they can reach. A group must not
/// outlive the task in which it was made.
class NODEWISE_API task_group {
 public:
  /// Makes a group without tasks. Throws `error` (usage) in a thread that runs no task.
  task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  /// Cancels the tasks that were not waited for, and waits until those that run have ended.
  ~task_group();

  /// Adds a task that calls `f()` once. Throws `error` (system) or std::bad_alloc if memory runs
  /// out; `f` is not called then.
  template <class F>
  void spawn(F&& f) {
    add(detail::no_home, std::forward<F>(f));
  }
  /// The same on a node; on any if it is `unknown_node`.
  template <class F>
  void spawn(node_id where, F&& f) {
    add(home(where), std::forward<F>(f));
  }
  /// The same on the node of the page at an address; on any if `node_of` does not know it.
  template <class F>
  void spawn(const void* where, F&& f) {
    add(home(node_of(where)), std::forward<F>(f));
  }
  /// The same on the node that owns an element of a placed array; costs no system call.
  template <class A, class F>
    requires owned_range<const A>
  void spawn(const A& array, std::size_t index, F&& f) {
    add(home(owner_of(array, index)), std::forward<F>(f));
  }
  /// Calls `spawn(where..., f)` if `parallel`, else `f()` at once: for recursions, which are faster
  /// without tasks below some size. See `task_cut_off`.
  template <class... Where>
  void spawn_if(bool parallel, Where&&... where_and_f) {
    if (parallel) {
      spawn(std::forward<Where>(where_and_f)...);
    } else {
      call_last(where_and_f...);
    }
  }

  /// Waits until all tasks have ended, and runs tasks meanwhile, also of other groups. Throws the
  /// first exception of a task; it has cancelled the group. Afterwards the group is as new. Throws
  /// `error` (usage) in a thread that runs no task of the same `run_tasks`.
  task_status wait();

  /// Drops the tasks that have not begun, and those of groups that are nested in this one.
  void cancel() noexcept;
  /// Whether this group, or one around it, is cancelled. Long tasks may ask, and return early.
  [[nodiscard]] bool is_cancelled() const noexcept;

 private:
  friend class detail::task_worker;

  /// Tasks that have not ended, in the lower bits; above, 1 + the number of the worker to wake at
  /// the end.
  static constexpr unsigned waiter_shift = 40;
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << waiter_shift) - 1;

  template <class F>
  void add(std::uint32_t home, F&& f) {
    static_assert(std::invocable<std::remove_cvref_t<F>&>,
                  "a task is a function without parameters: spawn([...] { ... })");
    detail::task_worker* const me = own_worker();
    const auto give_back = [me](detail::task* block) {
      me == nullptr ? delete block : me->release(block);
    };
    if (me != nullptr) {
      me->reserve_one();
    }
    std::unique_ptr<detail::task, decltype(give_back)> made(
        me == nullptr ? new detail::task : me->allocate(), give_back);
    made->hold(std::forward<F>(f));
    made->group = this;
    made->home = home;
    state_.fetch_add(1, std::memory_order_relaxed);
    me == nullptr ? scheduler_->send(made.release()) : me->push(made.release());
  }
  template <class First, class... More>
  static void call_last(First& first, More&... more) {
    if constexpr (sizeof...(More) == 0) {
      first();
    } else {
      call_last(more...);
    }
  }
  [[nodiscard]] detail::task_worker* own_worker() const noexcept {
    detail::task_worker* const me = detail::this_worker;
    return me != nullptr && &me->scheduler() == scheduler_ ? me : nullptr;
  }
  [[nodiscard]] std::uint32_t home(node_id where) const { return scheduler_->team_of(where); }

  [[nodiscard]] bool has_ended() const noexcept {
    return (state_.load(std::memory_order_acquire) & count_mask) == 0;
  }
  void end_one(detail::task_scheduler& scheduler) noexcept;
  [[nodiscard]] bool wake_at_end(std::size_t worker) noexcept;
  void wake_nobody() noexcept { state_.fetch_and(count_mask, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> state_{0};
  detail::task_scheduler* scheduler_;
  task_group* parent_;
  std::atomic<bool> cancelled_{false};
  detail::first_exception failed_;
};

} // namespace nodewise::inline v0
