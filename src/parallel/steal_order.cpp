// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// In which order the workers of a machine look for each other's tasks.
#include <nodewise/detail/tasks/steal_order.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace nodewise::inline v0::detail {

namespace {

/// The other workers of the last-level cache of a worker's place; none if its place is more than a
/// cache, or its whole team shares one.
std::vector<std::size_t> others_on_cache(const thread_map& threads, const worker& me) {
  const cpu_set& place = threads.places()[me.number].place;
  const cache* last_level = nullptr;
  for (const cache& each : threads.machine().caches) {
    if (each.kind != cache_kind::instruction && each.cpus.includes(place) &&
        (last_level == nullptr || each.level > last_level->level)) {
      last_level = &each;
    }
  }
  std::vector<std::size_t> others;
  if (last_level != nullptr) {
    const std::vector<std::size_t>& team = threads.teams()[me.team].workers;
    std::ranges::copy_if(team, std::back_inserter(others), [&](std::size_t other) {
      return other != me.number && last_level->cpus.includes(threads.places()[other].place);
    });
    if (others.size() + 1 == team.size()) {
      others.clear();
    }
  }
  return others;
}

/// The workers of `from`, but not this one, and none that is in one of the rings.
std::vector<std::size_t> without(const std::vector<steal_ring>& rings, std::size_t me,
                                 const std::vector<std::size_t>& from) {
  std::vector<std::size_t> rest;
  std::ranges::copy_if(from, std::back_inserter(rest), [&](std::size_t other) {
    return other != me && std::ranges::none_of(rings, [other](const steal_ring& ring) {
             return std::ranges::find(ring.workers, other) != ring.workers.end();
           });
  });
  return rest;
}

/// The core; the last-level cache, if the node has several; the node. Before a worker begins a task
/// that was sent to its node, it helps with those that its cache's workers have begun: they are
/// likely to share data (the third level of LAWS).
std::vector<steal_ring> rings_at_home(const thread_map& threads, const worker& me,
                                      const std::vector<std::size_t>& on_core) {
  std::vector<steal_ring> rings;
  for (const auto& workers : {on_core, others_on_cache(threads, me)}) {
    std::vector<std::size_t> more = without(rings, me.number, workers);
    if (!more.empty()) {
      rings.push_back({{}, std::move(more)});
    }
  }
  rings.push_back({{me.team}, without(rings, me.number, threads.teams()[me.team].workers)});
  return rings;
}

std::vector<steal_ring> rings_away(const thread_map& threads, std::size_t team) {
  std::vector<steal_ring> rings;
  for (const std::vector<std::size_t>& group : threads.others(team)) {
    steal_ring& ring = rings.emplace_back();
    ring.teams = group;
    for (const std::size_t other : group) {
      const auto& workers = threads.teams()[other].workers;
      ring.workers.insert(ring.workers.end(), workers.begin(), workers.end());
    }
  }
  return rings;
}

/// One ring of everything: no worker is nearer than another.
steal_ring ring_of_all(const thread_map& threads) {
  steal_ring ring;
  ring.teams.resize(threads.teams().size());
  ring.workers.resize(threads.workers().size());
  std::iota(ring.teams.begin(), ring.teams.end(), std::size_t{0});
  std::iota(ring.workers.begin(), ring.workers.end(), std::size_t{0});
  return ring;
}

} // namespace

steal_order::steal_order(const thread_map& threads, steal across) : across_(across) {
  const std::size_t teams = threads.teams().size();
  for (const worker& me : threads.workers()) {
    team_of_.push_back(me.team);
    core_.push_back(threads.others_on_core(me.number));
    home_.push_back(across == steal::any ? std::vector<steal_ring>{{{me.team}, {}}}
                                         : rings_at_home(threads, me, core_.back()));
  }
  all_ = ring_of_all(threads);
  for (std::size_t team = 0; team < teams; ++team) {
    away_.push_back(across == steal::nearest ? rings_away(threads, team)
                                             : std::vector<steal_ring>{});
    std::vector<steal_distance>& far = far_.emplace_back(teams, steal_distance::farther);
    far[team] = steal_distance::node;
    if (!threads.others(team).empty()) {
      for (const std::size_t near : threads.others(team).front()) {
        far[near] = steal_distance::nearest;
      }
    }
  }
}

steal_distance steal_order::from_worker(const worker& me, std::size_t victim) const noexcept {
  return std::ranges::find(core_[me.number], victim) != core_[me.number].end()
             ? steal_distance::core
             : from_team(me, team_of_[victim]);
}

steal_distance steal_order::from_team(const worker& me, std::size_t victim) const noexcept {
  return far_[me.team][victim];
}

} // namespace nodewise::inline v0::detail
