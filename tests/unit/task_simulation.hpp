// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Trees of tasks in virtual time: workers that search by the scheduler's own policy, without a
// clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include <nodewise/detail/tasks/steal_order.hpp>

namespace nodewise::test {

/// A task: works, spawns its children, waits for them, and works again. Times are in searches of a
/// worker's own node.
struct tree_task {
  double before = 0;
  double after = 0;
  std::uint32_t home = detail::no_home;
  std::size_t piece = 0; ///< of the data that it uses; for tests that count them
  std::vector<tree_task> children;

  [[nodiscard]] double work() const {
    double all = before + after;
    for (const tree_task& each : children) {
      all += each.work();
    }
    return all;
  }
  [[nodiscard]] double span() const {
    double longest = 0;
    for (const tree_task& each : children) {
      longest = std::max(longest, each.span());
    }
    return before + longest + after;
  }
};

class task_simulation {
 public:
  static constexpr double search_time = 1;
  static constexpr double steal_time = 1; ///< more than taking a task of one's own

  task_simulation(const thread_map& threads, steal across)
      : threads_(threads), order_(threads, across), workers_(threads.workers().size()),
        sent_(threads.teams().size()) {
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      workers_[k].search.random = detail::steal_random(k);
    }
  }

  /// Runs a tree from the first worker; returns the time until it has ended.
  double run(const tree_task& root) {
    begin(0, 0.0, root, nullptr, false);
    for (std::size_t each = 1; each < workers_.size(); ++each) {
      events_.push({0.0, each});
    }
    while (workers_[0].frames.size() != 0) {
      const auto [now, number] = events_.top();
      events_.pop();
      go_on(number, now);
      ended_ = now;
    }
    return ended_;
  }

  std::uint64_t stolen_between_nodes = 0;
  std::uint64_t at_home = 0;
  std::uint64_t elsewhere = 0;
  /// Gets each task and the worker that begins it.
  std::function<void(std::size_t worker, const tree_task&)> on_begin = [](std::size_t,
                                                                          const tree_task&) {};
  /// The largest number of tasks that one worker has begun and not ended.
  std::size_t deepest = 0;

 private:
  struct frame {
    const tree_task* task;
    std::size_t* pending_of_parent;
    std::size_t detours = 0;
    std::size_t pending = 0;
    enum class stage { before, waiting, after } at = stage::before;
  };
  struct waiting_task {
    const tree_task* task = nullptr;
    std::size_t* pending_of_parent = nullptr;

    explicit operator bool() const { return task != nullptr; }
  };
  struct simulated_worker {
    std::deque<frame> frames; ///< addresses of all but the last stay valid
    std::deque<waiting_task> own;
    bool is_idle = true;
    detail::searcher search;
  };
  /// When a worker is free, and which.
  using event = std::pair<double, std::size_t>;

  struct queues {
    task_simulation& of;
    std::size_t me;
    bool& is_stolen;

    [[nodiscard]] bool has_idle(std::size_t team) const {
      return std::ranges::any_of(of.threads_.teams()[team].workers,
                                 [this](std::size_t each) { return of.workers_[each].is_idle; });
    }
    [[nodiscard]] waiting_task own() const {
      std::deque<waiting_task>& deque = of.workers_[me].own;
      return deque.empty() ? waiting_task{} : taken(deque, deque.size() - 1);
    }
    [[nodiscard]] waiting_task of_team(std::size_t team) const {
      return stolen(of.sent_[team], of.order_.from_team(of.threads_.workers()[me], team),
                    detail::steal_order::end_for(!of.workers_[me].frames.empty()));
    }
    [[nodiscard]] waiting_task of_worker(std::size_t victim) const {
      return stolen(of.workers_[victim].own,
                    of.order_.from_worker(of.threads_.workers()[me], victim),
                    detail::queue_end::first);
    }

   private:
    [[nodiscard]] static waiting_task taken(std::deque<waiting_task>& from, std::size_t at) {
      const waiting_task found = from[at];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
      return found;
    }
    [[nodiscard]] waiting_task stolen(std::deque<waiting_task>& from, detail::steal_distance far,
                                      detail::queue_end end) const {
      if (from.empty()) {
        return {};
      }
      is_stolen = true;
      of.stolen_between_nodes +=
          far == detail::steal_distance::nearest || far == detail::steal_distance::farther ? 1 : 0;
      return taken(from, end == detail::queue_end::first ? 0 : from.size() - 1);
    }
  };

  void begin(std::size_t number, double now, const tree_task& task, std::size_t* pending,
             bool is_stolen) {
    simulated_worker& me = workers_[number];
    const std::size_t detours =
        me.frames.empty() ? 0 : me.frames.back().detours + (is_stolen ? 1 : 0);
    me.frames.push_back({&task, pending, detours});
    me.is_idle = false;
    on_begin(number, task);
    deepest = std::max(deepest, me.frames.size());
    if (task.home != detail::no_home) {
      ++(task.home == threads_.workers()[number].team ? at_home : elsewhere);
    }
    events_.push({now + task.before, number});
  }

  void go_on(std::size_t number, double now) {
    simulated_worker& me = workers_[number];
    if (!me.frames.empty()) {
      frame& last = me.frames.back();
      if (last.at == frame::stage::before) {
        spawn_children(number, last);
        last.at = frame::stage::waiting;
      }
      if (last.at == frame::stage::waiting && last.pending == 0) {
        last.at = frame::stage::after;
        events_.push({now + last.task->after, number});
        return;
      }
      if (last.at == frame::stage::after) {
        if (last.pending_of_parent != nullptr) {
          --*last.pending_of_parent;
        }
        me.frames.pop_back();
        events_.push({now, number});
        return;
      }
    }
    search(number, now);
  }

  void spawn_children(std::size_t number, frame& parent) {
    const std::size_t team = threads_.workers()[number].team;
    for (const tree_task& child : parent.task->children) {
      ++parent.pending;
      auto& queue = order_.is_sent(child.home, parent.task->home, team, parent.detours)
                        ? sent_[child.home]
                        : workers_[number].own;
      queue.push_back({&child, &parent.pending});
    }
  }

  void search(std::size_t number, double now) {
    simulated_worker& me = workers_[number];
    bool is_stolen = false;
    const waiting_task found =
        order_.find(threads_.workers()[number], me.search, queues{*this, number, is_stolen});
    if (found) {
      me.is_idle = false;
      begin(number, now + (is_stolen ? steal_time : 0), *found.task, found.pending_of_parent,
            is_stolen);
    } else {
      me.is_idle = true;
      events_.push({now + search_time, number});
    }
  }

  const thread_map& threads_;
  detail::steal_order order_;
  std::vector<simulated_worker> workers_;
  std::vector<std::deque<waiting_task>> sent_; ///< by team
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  double ended_ = 0;
};

} // namespace nodewise::test
