// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The scheduler of tasks: workers with a deque each, teams with a queue each, and where idle
// workers sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <nodewise/detail/slots.hpp>
#include <nodewise/detail/tasks/deque.hpp>
#include <nodewise/detail/tasks/steal_order.hpp>
#include <nodewise/detail/tasks/task.hpp>
#include <nodewise/task_statistics.hpp>

namespace nodewise::inline v0::detail {

class task_scheduler;

/// The tasks that were sent to a team, and what others know of the team.
class NODEWISE_API task_team {
 public:
  void push(task* sent) noexcept;
  [[nodiscard]] task* take(queue_end from) noexcept;

  std::atomic<std::size_t> arrived{0};  ///< workers that look for tasks
  std::atomic<std::size_t> idle{0};     ///< of these, workers without a task
  std::atomic<std::size_t> sleepers{0}; ///< of these, workers that sleep
  /// None of its workers comes, as far as is known: all workers run its tasks.
  std::atomic<bool> absent{false};

  /// Whether a worker of this team will soon look for tasks.
  [[nodiscard]] bool has_idle() const noexcept {
    return idle.load(std::memory_order_seq_cst) != 0 ||
           (arrived.load(std::memory_order_relaxed) == 0 &&
            !absent.load(std::memory_order_relaxed));
  }

 private:
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_;
  task* first_ = nullptr;
  task* last_ = nullptr;
};

/// Blocks for tasks, on one node.
struct task_blocks {
  std::vector<region> memory;
  task* free = nullptr;
};

/// A worker's part of the scheduler, in memory of its node.
class NODEWISE_API task_worker {
 public:
  task_worker() = default;
  task_worker(const task_worker&) = delete;
  task_worker& operator=(const task_worker&) = delete;
  ~task_worker();

  [[nodiscard]] task_scheduler& scheduler() const noexcept { return *scheduler_; }
  [[nodiscard]] const worker& self() const noexcept { return self_; }
  /// The group of the task that runs now: the parent of groups made in it.
  [[nodiscard]] task_group* group() const noexcept { return group_; }

  /// A free block. Throws `error` (system) if memory runs out.
  [[nodiscard]] task* allocate() {
    if (blocks_.free == nullptr) {
      refill();
    }
    task* const block = std::exchange(blocks_.free, blocks_.free->next);
    block->owner = this;
    return block;
  }
  /// Frees the block of a task that this worker ran. It may belong to another worker.
  void release(task* block) noexcept;

  /// Puts a task where `home` wants it. Throws std::bad_alloc before anything is changed.
  void reserve_one() { deque_.reserve_one(); }
  void push(task* made) noexcept;

  /// Runs tasks until all of the group's have ended, or for nullptr, until the root has.
  void help(task_group* until) noexcept;

 private:
  friend class task_scheduler;

  void refill();
  [[nodiscard]] task* take_returned() noexcept;
  struct found_task {
    task* what = nullptr;
    bool is_own = false; ///< from this worker's deque
  };
  enum class where { near_first, anywhere };
  [[nodiscard]] found_task find(where place, queue_end from) noexcept;
  void run(task* found) noexcept;
  void be_idle() noexcept;
  void be_busy() noexcept;
  [[nodiscard]] bool is_over(const task_group* group) const noexcept;
  /// Searches once more and then sleeps; returns what the search found.
  [[nodiscard]] found_task sleep(task_group* until) noexcept;
  void sleep_now() noexcept;
  /// From here on, a thread that adds a task wakes this worker, or the next search finds the task.
  void announce_sleep() noexcept;
  /// Ends the announced sleep; false if it has ended already.
  bool end_sleep() noexcept;
  /// Wakes this worker if it sleeps.
  bool wake() noexcept;

  struct queues;

  task_scheduler* scheduler_ = nullptr;
  worker self_;
  task_group* group_ = nullptr;
  std::uint32_t home_ = no_home; ///< of the task that runs now
  std::size_t detours_ = 0;      ///< on the stack
  bool is_idle_ = false;
  bool was_woken_ = false;      ///< since it was busy last
  bool came_from_away_ = false; ///< the task that was found last
  task_statistics counts_;
  searcher search_;
  task_blocks blocks_;
  work_deque<task> deque_;
  alignas(cache_aligned_bytes) std::atomic<task*> returned_{nullptr}; ///< blocks from others
  std::atomic<bool> asleep_{false};
  std::mutex mutex_;
  std::condition_variable woken_;
};

/// The worker that the calling thread is; nullptr outside of `run_tasks`.
NODEWISE_API inline constinit thread_local task_worker* this_worker = nullptr;

/// One call of `run_tasks`.
class NODEWISE_API task_scheduler {
 public:
  /// Throws `error` (usage) if the calling thread runs a task on the same threads.
  task_scheduler(const thread_map& threads, steal across);
  task_scheduler(const task_scheduler&) = delete;
  task_scheduler& operator=(const task_scheduler&) = delete;
  ~task_scheduler() = default;

  /// The runtime has so many threads for the workers: the workers from this number on have no
  /// thread of their own, and come when others have ended.
  void expect(std::size_t threads) noexcept;
  /// The calling thread works as `me` until the root has ended. The first thread that comes calls
  /// `root` with its argument. Throws what `root` throws.
  void enter(const worker& me, void (*root)(void*), void* argument);
  /// After all have ended.
  [[nodiscard]] task_statistics statistics() const;

  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }
  /// The team that runs tasks for a node: its own, or one of the nearest; `no_home` if all are
  /// equally near, or the node is not known.
  [[nodiscard]] std::uint32_t team_of(node_id node) const {
    const auto number = static_cast<std::size_t>(to_int(node)); // huge for `unknown_node`
    const bool has_team = number < team_of_node_.size() && team_of_node_[number] != no_home;
    return has_team ? team_of_node_[number] : team_near(node);
  }

  /// Adds a task to the queue of its home, from any thread; to that of the first team if it has
  /// none.
  void send(task* made) noexcept;
  void wake(std::size_t worker) noexcept { workers_[worker].wake(); }
  /// Wakes a worker, if one sleeps, for a task that `team` has got.
  void wake_for(std::size_t team) noexcept {
    if (sleepers_.value.load(std::memory_order_seq_cst) != 0) {
      wake_one(team);
    }
  }
  /// Set once a group was cancelled: before that, no task asks its groups.
  std::atomic<bool> any_cancelled{false};

 private:
  friend class task_worker;

  [[nodiscard]] std::uint32_t team_near(node_id node) const;
  void finish() noexcept;
  void wake_one(std::size_t team) noexcept;
  bool wake_one_of(std::size_t team) noexcept;
  void wake_one_near(std::size_t team) noexcept;
  /// Whether tasks may wait for a team whose workers have not come yet.
  [[nodiscard]] bool awaits_a_team() const noexcept;
  /// From now on all workers run the tasks of teams that have not come.
  void give_up_waiting() noexcept;
  [[nodiscard]] task* take_of_absent(queue_end from) noexcept;

  const thread_map& threads_;
  const task_scheduler* around_; ///< whose task makes the call; nullptr: no task does
  steal_order order_;
  std::vector<std::uint32_t> team_of_node_; ///< by node number, for those that have a team
  slots<task_worker> workers_;
  slots<task_team> teams_;
  std::atomic<bool> begun_{false};
  std::atomic<bool> done_{false};
  std::atomic<bool> any_absent_{false};
  cache_aligned<std::atomic<std::size_t>> sleepers_;
};

inline void task_worker::push(task* made) noexcept {
  if (scheduler_->order_.is_sent(made->home, home_, self_.team, detours_)) {
    scheduler_->send(made);
  } else {
    deque_.push(made);
    scheduler_->wake_for(self_.team);
  }
}

} // namespace nodewise::inline v0::detail
