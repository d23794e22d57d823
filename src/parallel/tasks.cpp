// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Groups of tasks, and what their statistics say.
#include <nodewise/tasks.hpp>

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "sys/kernel.hpp"

namespace nodewise::inline v0 {

node_id node_of(const void* address) noexcept {
  const std::array<void*, 1> page{const_cast<void*>(address)};
  std::array<int, 1> node{-1};
  return sys::real_kernel().query_pages(page, node) == 0 && node[0] >= 0 ? node_id{node[0]}
                                                                         : unknown_node;
}

std::size_t task_cut_off(std::size_t size, const thread_map& threads, std::size_t least) noexcept {
  constexpr std::size_t parts_per_worker = 32;
  return std::max(size / (parts_per_worker * threads.workers().size()),
                  std::max<std::size_t>(least, 1));
}

namespace {

error no_task_runs(const char* asked) {
  return {error_kind::usage, asked, "the calling thread runs no task",
          "call it in the function that run_tasks calls, or in a task"};
}

} // namespace

task_group::task_group() {
  if (detail::this_worker == nullptr) {
    throw no_task_runs("making a task group");
  }
  scheduler_ = &detail::this_worker->scheduler();
  parent_ = detail::this_worker->group();
}

task_group::~task_group() {
  if (has_ended()) {
    return;
  }
  cancel();
  if (detail::task_worker* const me = own_worker()) {
    me->help(this);
  }
  while (!has_ended()) { // destroyed by a thread that runs no task
    std::this_thread::yield();
  }
}

task_status task_group::wait() {
  detail::task_worker* const me = own_worker();
  if (me == nullptr) {
    throw no_task_runs("waiting for a task group");
  }
  me->help(this);
  const bool was_cancelled =
      scheduler_->any_cancelled.load(std::memory_order_relaxed) && is_cancelled();
  cancelled_.store(false, std::memory_order_relaxed);
  failed_.rethrow_once();
  return was_cancelled ? task_status::cancelled : task_status::complete;
}

void task_group::cancel() noexcept {
  cancelled_.store(true, std::memory_order_relaxed);
  scheduler_->any_cancelled.store(true, std::memory_order_relaxed);
}

bool task_group::is_cancelled() const noexcept {
  for (const task_group* each = this; each != nullptr; each = each->parent_) {
    if (each->cancelled_.load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void task_group::end_one(detail::task_scheduler& scheduler) noexcept {
  const std::uint64_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
  // The group may be gone from here on.
  if ((before & count_mask) == 1 && before >> waiter_shift != 0) {
    scheduler.wake((before >> waiter_shift) - 1);
  }
}

bool task_group::wake_at_end(std::size_t worker) noexcept {
  std::uint64_t now = state_.load(std::memory_order_acquire);
  while ((now & count_mask) != 0 && now >> waiter_shift == 0) {
    if (state_.compare_exchange_weak(now, now | (std::uint64_t{worker} + 1) << waiter_shift,
                                     std::memory_order_acq_rel, std::memory_order_acquire)) {
      return true;
    }
  }
  return false; // ended, or another thread waits for it: this one goes on searching
}

std::string to_string(const task_statistics& of) {
  std::string text = counted(of.tasks(), "task");
  if (const auto share = of.locality()) {
    text += fmt::format(", {:.1f} % of {} at home", 100 * *share, of.at_home + of.elsewhere);
  }
  if (of.dropped != 0) {
    text += fmt::format(", {} dropped", of.dropped);
  }
  const std::uint64_t near = of.stolen_core + of.stolen_node;
  return text +
         fmt::format(
             "; {} stolen: {} from the same core, {} from the same node, {} from the nearest, "
             "{} from farther",
             near + of.stolen_between_nodes(), of.stolen_core, of.stolen_node, of.stolen_nearest,
             of.stolen_farther);
}

} // namespace nodewise::inline v0
