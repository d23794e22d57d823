// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a worker does with tasks: finds, runs, and sleeps while there are none.
#include <nodewise/task_group.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace nodewise::inline v0::detail {

namespace {

/// Searches before a worker sleeps. The first ones follow each other quickly, for work that is a
/// moment away; the later ones let another thread have the processor.
constexpr std::size_t searches_before_sleep = 64;
constexpr std::size_t quick_searches = 32;

constexpr std::size_t blocks_at_once = 128;

/// Blocks that the workers of former runs have left, by node: placing memory anew would take longer
/// than many tasks.
class block_store {
 public:
  static block_store& of_process() {
    static block_store& store = *new block_store; // outlives all static objects that run tasks
    return store;
  }

  [[nodiscard]] task_blocks take(node_id node) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(left_, node, &left_blocks::node);
    if (found == left_.end()) {
      return {};
    }
    std::swap(*found, left_.back());
    task_blocks blocks = std::move(left_.back().blocks);
    left_.pop_back();
    return blocks;
  }
  /// Keeps the blocks, or frees them if there are many.
  void give(node_id node, task_blocks blocks) noexcept {
    constexpr std::size_t most_workers = 256;
    constexpr std::size_t most_regions = 64; // 1 MiB
    const std::lock_guard lock(mutex_);
    if (left_.size() < most_workers && blocks.memory.size() <= most_regions) {
      try {
        left_.push_back({node, std::move(blocks)});
      } catch (const std::bad_alloc&) { // frees them instead
      }
    }
  }

 private:
  struct left_blocks {
    node_id node;
    task_blocks blocks;
  };

  std::mutex mutex_;
  std::vector<left_blocks> left_;
};

void pause_after(std::size_t misses) noexcept {
  if (misses > quick_searches) {
    std::this_thread::yield();
    return;
  }
  for (int k = 0; k < 8; ++k) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }
}

} // namespace

/// The queues as the search sees them; counts what it finds.
struct task_worker::queues {
  task_worker& me;
  queue_end from;

  [[nodiscard]] bool has_idle(std::size_t team) const noexcept {
    return me.scheduler_->teams_[team].has_idle();
  }
  [[nodiscard]] task* own() const noexcept { return me.deque_.take(); }
  [[nodiscard]] task* of_team(std::size_t team) const noexcept {
    task* const found = me.scheduler_->teams_[team].take(from);
    if (found != nullptr && team != me.self_.team) {
      count(me.scheduler_->order_.from_team(me.self_, team));
    }
    return found;
  }
  [[nodiscard]] task* of_worker(std::size_t victim) const noexcept {
    task* const found = me.scheduler_->workers_[victim].deque_.steal();
    if (found != nullptr && victim != me.self_.number) {
      count(me.scheduler_->order_.from_worker(me.self_, victim));
    }
    return found;
  }

 private:
  void count(steal_distance far) const noexcept {
    me.came_from_away_ = far == steal_distance::nearest || far == steal_distance::farther;
    switch (far) {
    case steal_distance::core:
      ++me.counts_.stolen_core;
      break;
    case steal_distance::node:
      ++me.counts_.stolen_node;
      break;
    case steal_distance::nearest:
      ++me.counts_.stolen_nearest;
      break;
    case steal_distance::farther:
      ++me.counts_.stolen_farther;
      break;
    }
  }
};

task_worker::~task_worker() {
  if (!blocks_.memory.empty()) {
    for (task* block = take_returned(); block != nullptr;) {
      task* const next = block->next;
      block->next = std::exchange(blocks_.free, block);
      block = next;
    }
    block_store::of_process().give(self_.node, std::move(blocks_));
  }
}

task* task_worker::take_returned() noexcept {
  return returned_.exchange(nullptr, std::memory_order_acquire);
}

void task_worker::refill() {
  blocks_.free = take_returned();
  if (blocks_.free == nullptr && blocks_.memory.empty()) {
    blocks_ = block_store::of_process().take(self_.node);
  }
  if (blocks_.free != nullptr) {
    return;
  }
  const region& more = blocks_.memory.emplace_back(blocks_at_once * sizeof(task), bound(self_.node),
                                                   place_options{.pages = page_size::base});
  for (std::size_t k = blocks_at_once; k-- > 0;) { // the list ascends, as processors prefetch
    task* const block = ::new (more.data() + k * sizeof(task)) task;
    block->next = std::exchange(blocks_.free, block);
  }
}

void task_worker::release(task* block) noexcept {
  task_worker* const owner = block->owner;
  if (owner == this) {
    block->next = std::exchange(blocks_.free, block);
  } else if (owner == nullptr) {
    delete block;
  } else {
    block->next = owner->returned_.load(std::memory_order_relaxed);
    while (!owner->returned_.compare_exchange_weak(block->next, block, std::memory_order_release,
                                                   std::memory_order_relaxed)) {
    }
  }
}

task_worker::found_task task_worker::find(where place, queue_end from) noexcept {
  if (task* const own = deque_.take()) {
    return {own, true};
  }
  const steal_order& order = scheduler_->order_;
  const queues all{*this, from};
  task* const found = place == where::anywhere ? order.find_anywhere(self_, search_, all)
                                               : order.find(self_, search_, all);
  if (found != nullptr) {
    return {found, false};
  }
  task* const left = scheduler_->take_of_absent(from);
  came_from_away_ = left != nullptr;
  return {left, false};
}

void task_worker::run(task* found) noexcept {
  task_group& group = *found->group;
  task_group* const group_around = std::exchange(group_, &group);
  const std::uint32_t home_around = std::exchange(home_, found->home);
  if (scheduler_->any_cancelled.load(std::memory_order_relaxed) && group.is_cancelled()) {
    ++counts_.dropped;
    found->settle(*found, task::fate::drop);
  } else {
    ++(found->home == no_home      ? counts_.homeless
       : found->home == self_.team ? counts_.at_home
                                   : counts_.elsewhere);
    try {
      found->settle(*found, task::fate::run);
    } catch (...) {
      group.failed_.guard([] { throw; });
      group.cancel();
    }
  }
  group_ = group_around;
  home_ = home_around;
  release(found);
  group.end_one(*scheduler_);
}

void task_worker::be_idle() noexcept {
  if (!std::exchange(is_idle_, true)) {
    scheduler_->teams_[self_.team].idle.fetch_add(1, std::memory_order_seq_cst);
  }
}

/// Tasks are added without a wake-up while a worker of their node is idle. So a worker that stops
/// being idle wakes another, if that one may take what is left now: the last idle worker of a node,
/// one that was woken, and one that found a task of another node.
void task_worker::be_busy() noexcept {
  if (!std::exchange(is_idle_, false)) {
    return;
  }
  const bool was_woken = std::exchange(was_woken_, false);
  const bool came_from_away = std::exchange(came_from_away_, false);
  const bool was_last =
      scheduler_->teams_[self_.team].idle.fetch_sub(1, std::memory_order_seq_cst) == 1;
  if ((was_last || was_woken || came_from_away) &&
      scheduler_->sleepers_.value.load(std::memory_order_seq_cst) != 0 &&
      !scheduler_->wake_one_of(self_.team)) {
    scheduler_->wake_one_near(self_.team);
  }
}

bool task_worker::is_over(const task_group* group) const noexcept {
  return group != nullptr ? group->has_ended() : scheduler_->done_.load(std::memory_order_acquire);
}

void task_worker::help(task_group* until) noexcept {
  const bool waits = until != nullptr;
  std::size_t misses = 0;
  while (!is_over(until)) {
    found_task next = find(where::near_first, steal_order::end_for(waits));
    if (next.what == nullptr && ++misses > searches_before_sleep) {
      next = sleep(until);
      misses = 0;
    }
    if (next.what == nullptr) {
      be_idle();
      pause_after(misses);
      continue;
    }
    be_busy();
    const std::size_t detours = waits && !next.is_own ? 1 : 0;
    detours_ += detours;
    run(next.what);
    detours_ -= detours;
    misses = 0;
  }
  be_busy();
}

void task_worker::announce_sleep() noexcept {
  scheduler_->teams_[self_.team].sleepers.fetch_add(1, std::memory_order_seq_cst);
  scheduler_->sleepers_.value.fetch_add(1, std::memory_order_seq_cst);
  asleep_.store(true, std::memory_order_seq_cst);
}

bool task_worker::end_sleep() noexcept {
  bool asleep = true;
  if (!asleep_.compare_exchange_strong(asleep, false, std::memory_order_seq_cst)) {
    return false;
  }
  scheduler_->teams_[self_.team].sleepers.fetch_sub(1, std::memory_order_relaxed);
  scheduler_->sleepers_.value.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool task_worker::wake() noexcept {
  if (!asleep_.load(std::memory_order_seq_cst) || !end_sleep()) {
    return false;
  }
  {
    const std::lock_guard lock(mutex_);
  } // it has seen the change, or waits by now
  woken_.notify_one();
  return true;
}

task_worker::found_task task_worker::sleep(task_group* until) noexcept {
  announce_sleep();
  const bool sleeps = until == nullptr ? !scheduler_->done_.load(std::memory_order_seq_cst)
                                       : until->wake_at_end(self_.number);
  const found_task found =
      sleeps ? find(where::anywhere, steal_order::end_for(until != nullptr)) : found_task{};
  if (sleeps && found.what == nullptr) {
    sleep_now();
    was_woken_ = true;
  } else if (!end_sleep()) {
    was_woken_ = true; // for another task than the one that it found
  }
  if (sleeps && until != nullptr) {
    until->wake_nobody();
  }
  return found;
}

void task_worker::sleep_now() noexcept {
  constexpr std::chrono::seconds patience(1);
  std::unique_lock lock(mutex_);
  const auto is_awake = [this] { return !asleep_.load(std::memory_order_acquire); };
  if (!scheduler_->awaits_a_team()) {
    woken_.wait(lock, is_awake);
  } else if (!woken_.wait_for(lock, patience, is_awake) && end_sleep()) {
    scheduler_->give_up_waiting();
  }
}

} // namespace nodewise::inline v0::detail
