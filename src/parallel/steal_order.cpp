// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// In which order the workers of a machine look for each other's tasks.
#include <nodewise/detail/tasks/steal_order.hpp>

#include <algorithm>
#include <numeric>

namespace nodewise::inline v0::detail {

namespace {

std::vector<steal_ring> rings_at_home(const thread_map& threads, const worker& me,
                                      const std::vector<std::size_t>& on_core) {
  std::vector<steal_ring> rings;
  if (!on_core.empty()) {
    rings.push_back({{}, on_core});
  }
  steal_ring& node = rings.emplace_back();
  node.teams.push_back(me.team);
  for (const std::size_t other : threads.teams()[me.team].workers) {
    if (other != me.number && std::ranges::find(on_core, other) == on_core.end()) {
      node.workers.push_back(other);
    }
  }
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
