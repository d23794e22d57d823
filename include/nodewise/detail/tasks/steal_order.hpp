// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The policy of tasks: in which queue a task waits, and in which order a worker looks for one. It
// has no queues and no threads, so the scheduler and the tests' simulation share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <nodewise/schedule.hpp>

namespace nodewise::inline v0::detail {

/// A team as the home of a task; `no_home`: any worker may run it without loss.
inline constexpr std::uint32_t no_home = std::numeric_limits<std::uint32_t>::max();

/// Which end of a team's queue a worker takes from. An idle worker takes the first task, which is
/// likely to be the largest. A worker that waits for a group takes the last, so that it soon goes
/// on.
enum class queue_end : std::uint8_t { first, last };

/// How far a stolen task came.
enum class steal_distance : std::uint8_t { core, node, nearest, farther };

/// Queues and deques that a worker searches before it goes on to the next ring.
struct steal_ring {
  std::vector<std::size_t> teams;   ///< whose queues are searched first
  std::vector<std::size_t> workers; ///< whose deques are searched then, from a random one on
};

/// Random numbers for the search; each worker has its own (xorshift32, Marsaglia 2003).
class steal_random {
 public:
  explicit steal_random(std::size_t seed) noexcept
      : state_(static_cast<std::uint32_t>(seed * 2654435761U + 88172645U) | 1U) {}
  [[nodiscard]] std::uint32_t next() noexcept {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 17U;
    state_ ^= state_ << 5U;
    return state_;
  }

 private:
  std::uint32_t state_;
};

/// A worker's state between searches.
struct searcher {
  steal_random random{0};
  std::size_t misses = 0; ///< searches in a row that found nothing, while it might have left
};

/// The order of the search: the worker's own deque; the workers of its core; those of its
/// last-level cache, if its node has several; the queue and the workers of its node; then node
/// after node, the nearest first, as `thread_map::others` has them.
class NODEWISE_API steal_order {
 public:
  /// A worker leaves its node only after it has found nothing there so many times in a row while
  /// another node was busy: the own node's other workers are often about to spawn tasks.
  static constexpr std::size_t misses_before_leaving = 2;
  /// A detour is a task that a worker took from elsewhere while it waited for others. With so many
  /// on its stack, it sends no more tasks away: each would be waited for with another detour, and
  /// the stack would grow.
  static constexpr std::size_t most_detours = 2;

  steal_order(const thread_map& threads, steal across);

  [[nodiscard]] steal across() const noexcept { return across_; }
  /// Whether a task goes to the queue of its home, rather than into the deque of the worker in
  /// `team` that spawns it. A stolen task keeps the children that have the same home: they would
  /// only be stolen once more. Under `never` all tasks go home.
  [[nodiscard]] bool is_sent(std::uint32_t home, std::uint32_t home_of_parent, std::size_t team,
                             std::size_t detours) const noexcept {
    return home != no_home && home != team &&
           (across_ == steal::never || (home != home_of_parent && detours < most_detours));
  }
  [[nodiscard]] static constexpr queue_end end_for(bool waits) noexcept {
    return waits ? queue_end::last : queue_end::first;
  }
  /// Returns how far a task came from a worker's deque or from a team's queue.
  [[nodiscard]] steal_distance from_worker(const worker& me, std::size_t victim) const noexcept;
  [[nodiscard]] steal_distance from_team(const worker& me, std::size_t victim) const noexcept;

  /// Looks for a task for `me`, by `queues.own()`, `queues.of_team(team)` and
  /// `queues.of_worker(worker)`, until one of them returns a task. Leaves other nodes' tasks alone
  /// while `queues.has_idle(team)`: their own idle workers find them in a moment.
  template <class Queues>
  [[nodiscard]] auto find(const worker& me, searcher& state, Queues&& queues) const
      -> decltype(queues.own()) {
    auto task = find_at_home(me, state, queues);
    if (!task && across_ == steal::any) {
      task = search(all_, state, queues, [](std::size_t) { return true; });
    } else if (!task && state.misses >= misses_before_leaving) {
      task = find_away(me, state, queues);
    }
    const auto is_busy = [&queues](std::size_t team) { return !queues.has_idle(team); };
    const bool may_leave =
        !task && std::ranges::any_of(away_[me.team], [&](const steal_ring& ring) {
          return std::ranges::any_of(ring.teams, is_busy);
        });
    state.misses = may_leave ? state.misses + 1 : 0;
    return task;
  }
  /// The same, from other nodes at once.
  template <class Queues>
  [[nodiscard]] auto find_anywhere(const worker& me, searcher& state, Queues&& queues) const
      -> decltype(queues.own()) {
    state.misses = misses_before_leaving;
    return find(me, state, queues);
  }

 private:
  template <class Queues>
  auto find_at_home(const worker& me, searcher& state, Queues& queues) const
      -> decltype(queues.own()) {
    auto task = queues.own();
    for (const steal_ring& ring : home_[me.number]) {
      if (task) {
        break;
      }
      task = search(ring, state, queues, [](std::size_t) { return true; });
    }
    return task;
  }
  template <class Queues>
  auto find_away(const worker& me, searcher& state, Queues& queues) const
      -> decltype(queues.own()) {
    for (const steal_ring& ring : away_[me.team]) {
      auto task = search(ring, state, queues,
                         [&queues](std::size_t team) { return !queues.has_idle(team); });
      if (task) {
        return task;
      }
    }
    return {};
  }
  template <class Queues, class Among>
  auto search(const steal_ring& ring, searcher& state, Queues& queues, Among among) const
      -> decltype(queues.own()) {
    for (const std::size_t team : ring.teams) {
      if (among(team)) {
        if (auto task = queues.of_team(team)) {
          return task;
        }
      }
    }
    const std::size_t all = ring.workers.size();
    const std::size_t first =
        static_cast<std::size_t>(std::uint64_t{state.random.next()} * all >> 32U);
    for (std::size_t k = 0; k < all; ++k) {
      const std::size_t at = first + k;
      const std::size_t victim = ring.workers[at < all ? at : at - all];
      if (among(team_of_[victim])) {
        if (auto task = queues.of_worker(victim)) {
          return task;
        }
      }
    }
    return {};
  }

  steal across_;
  std::vector<std::size_t> team_of_;             ///< by worker
  std::vector<std::vector<steal_ring>> home_;    ///< by worker
  std::vector<std::vector<steal_ring>> away_;    ///< by team; none but under `local_first`
  steal_ring all_;                               ///< for `any`
  std::vector<std::vector<steal_distance>> far_; ///< by team, by team
  std::vector<std::vector<std::size_t>> core_;   ///< the other workers of its core, by worker
};

} // namespace nodewise::inline v0::detail
