// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the workers of `run_tasks` share: queues of the teams, who sleeps, when all is done.
#include <nodewise/task_group.hpp>

#include <algorithm>
#include <iterator>

#include <nodewise/error.hpp>

namespace nodewise::inline v0::detail {

void task_team::push(task* sent) noexcept {
  sent->next = nullptr;
  const std::lock_guard lock(mutex_);
  sent->previous = last_;
  (first_ == nullptr ? first_ : last_->next) = sent;
  last_ = sent;
  size_.fetch_add(1, std::memory_order_seq_cst);
}

task* task_team::take(queue_end from) noexcept {
  if (size_.load(std::memory_order_seq_cst) == 0) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  task* const taken = from == queue_end::first ? first_ : last_;
  if (taken != nullptr) {
    (taken->previous == nullptr ? first_ : taken->previous->next) = taken->next;
    (taken->next == nullptr ? last_ : taken->next->previous) = taken->previous;
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
  return taken;
}

task_scheduler::task_scheduler(const thread_map& threads, steal across)
    : threads_(threads), around_(this_worker == nullptr ? nullptr : &this_worker->scheduler()),
      order_(threads, across), workers_(slots_of_workers(threads, sizeof(task_worker))),
      teams_(slots_of_teams(threads, sizeof(task_team))) {
  // The threads are busy with that run, and what a runtime keeps between loops is not synchronised.
  for (const task_scheduler* each = around_; each != nullptr; each = each->around_) {
    if (&each->threads_ == &threads) {
      throw error(error_kind::usage, "running tasks on teams that run the calling task",
                  "the threads of the teams end that run first",
                  "make a task_group in the task and spawn the tasks there, or use other teams");
    }
  }
  for (const worker& each : threads.workers()) {
    task_worker& of = workers_[each.number];
    of.scheduler_ = this;
    of.self_ = each;
    of.search_.random = steal_random(each.number);
  }
  for (std::size_t team = 0; team < threads.teams().size(); ++team) {
    const auto node = static_cast<std::size_t>(to_int(threads.teams()[team].node));
    team_of_node_.resize(std::max(team_of_node_.size(), node + 1), no_home);
    team_of_node_[node] = static_cast<std::uint32_t>(team);
  }
}

std::uint32_t task_scheduler::team_near(node_id node) const {
  const std::vector<std::size_t> near =
      node == unknown_node ? std::vector<std::size_t>{} : threads_.nearest_to(node);
  if (near.empty() || near.size() == threads_.teams().size()) {
    return no_home;
  }
  const auto own =
      this_worker == nullptr ? near.end() : std::ranges::find(near, this_worker->self().team);
  return static_cast<std::uint32_t>(own != near.end() ? *own : near.front());
}

void task_scheduler::send(task* made) noexcept {
  const std::size_t team = made->home == no_home ? 0 : made->home;
  teams_[team].push(made);
  wake_for(team);
}

bool task_scheduler::wake_one_of(std::size_t team) noexcept {
  return teams_[team].sleepers.load(std::memory_order_seq_cst) != 0 &&
         std::ranges::any_of(threads_.teams()[team].workers,
                             [this](std::size_t each) { return workers_[each].wake(); });
}

void task_scheduler::wake_one(std::size_t team) noexcept {
  if (!wake_one_of(team) && (order_.across() == steal::any || !teams_[team].has_idle())) {
    wake_one_near(team);
  }
}

void task_scheduler::wake_one_near(std::size_t team) noexcept {
  if (order_.across() == steal::never && !teams_[team].absent.load(std::memory_order_seq_cst)) {
    return;
  }
  for (const std::vector<std::size_t>& group : threads_.others(team)) {
    if (std::ranges::any_of(group, [this](std::size_t near) { return wake_one_of(near); })) {
      return;
    }
  }
}

void task_scheduler::expect(std::size_t threads) noexcept {
  if (threads >= workers_.size()) {
    return;
  }
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    if (threads_.teams()[team].workers.front() >= threads) {
      teams_[team].absent.store(true, std::memory_order_seq_cst);
      any_absent_.store(true, std::memory_order_seq_cst);
    }
  }
}

bool task_scheduler::awaits_a_team() const noexcept {
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    if (order_.across() != steal::any &&
        teams_[team].arrived.load(std::memory_order_relaxed) == 0 &&
        !teams_[team].absent.load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void task_scheduler::give_up_waiting() noexcept {
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    if (teams_[team].arrived.load(std::memory_order_relaxed) == 0) {
      teams_[team].absent.store(true, std::memory_order_seq_cst);
    }
  }
  any_absent_.store(true, std::memory_order_seq_cst);
}

task* task_scheduler::take_of_absent(queue_end from) noexcept {
  if (any_absent_.load(std::memory_order_seq_cst)) {
    for (std::size_t team = 0; team < teams_.size(); ++team) {
      if (teams_[team].absent.load(std::memory_order_relaxed) &&
          teams_[team].arrived.load(std::memory_order_relaxed) == 0) {
        if (task* const found = teams_[team].take(from)) {
          return found;
        }
      }
    }
  }
  return nullptr;
}

void task_scheduler::finish() noexcept {
  done_.store(true, std::memory_order_seq_cst);
  for (std::size_t each = 0; each < workers_.size(); ++each) {
    workers_[each].wake();
  }
}

void task_scheduler::enter(const worker& me, void (*root)(void*), void* argument) {
  struct as_worker {
    task_worker* before;
    explicit as_worker(task_worker* now) : before(std::exchange(this_worker, now)) {}
    ~as_worker() { this_worker = before; }
  } const here(&workers_[me.number]);
  struct finisher {
    task_scheduler& of;
    ~finisher() { of.finish(); }
  };
  workers_[me.number].be_idle(); // first, so that the team has an idle worker when it has arrived
  teams_[me.team].arrived.fetch_add(1, std::memory_order_relaxed);
  if (begun_.exchange(true, std::memory_order_acq_rel)) {
    workers_[me.number].help(nullptr);
  } else {
    const finisher at_end{*this};
    workers_[me.number].be_busy();
    root(argument);
  }
}

task_statistics task_scheduler::statistics() const {
  task_statistics all;
  for (std::size_t each = 0; each < workers_.size(); ++each) {
    all += workers_[each].counts_;
  }
  return all;
}

} // namespace nodewise::inline v0::detail
