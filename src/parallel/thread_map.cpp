// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which threads belong to which node, and where the values are that they have of their own.
#include <nodewise/detail/slots.hpp>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>
#include <map>

#include "sys/kernel.hpp"

namespace nodewise::inline v0 {

namespace {

constexpr std::size_t no_core = SIZE_MAX;

/// The position of the core that holds a whole place.
std::size_t core_of(const cpu_set& place, const std::vector<core>& cores) {
  const auto found = std::ranges::find_if(
      cores, [&place](const core& each) { return (place | each.cpus) == each.cpus; });
  return found == cores.end() ? no_core : static_cast<std::size_t>(found - cores.begin());
}

} // namespace

thread_map::thread_map(const topology& where, const team_layout& layout)
    : machine_(where.machine()), places_(layout.threads().begin(), layout.threads().end()) {
  const std::vector<node_id> owners = layout.owners();
  std::map<int, std::size_t> team_of;
  for (const node_id node : owners) {
    team_of.emplace(to_int(node), 0);
  }
  for (auto& [node, team] : team_of) {
    team = teams_.size();
    teams_.push_back({node_id{node}, {}, {}});
  }
  for (std::size_t number = 0; number < owners.size(); ++number) {
    const std::size_t team = team_of[to_int(owners[number])];
    node_team& own = teams_[team];
    workers_.push_back({number, team, own.workers.size(), own.node});
    own.workers.push_back(number);
    own.cpus = own.cpus | places_[number].place;
    cores_.push_back(core_of(places_[number].place, machine_.cores));
  }
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    std::map<int, std::vector<std::size_t>> by_distance;
    for (std::size_t other = 0; other < teams_.size(); ++other) {
      if (other != team) {
        by_distance[distance(teams_[team].node, teams_[other].node)].push_back(other);
      }
    }
    std::vector<std::vector<std::size_t>>& groups = others_.emplace_back();
    for (auto& [far, group] : by_distance) {
      groups.push_back(std::move(group));
    }
  }
}

int thread_map::distance(node_id from, node_id to) const noexcept {
  return machine_.distance(from, to).value_or(INT_MAX);
}

std::vector<std::size_t> thread_map::others_on_core(std::size_t worker) const {
  std::vector<std::size_t> others;
  if (cores_[worker] != no_core) {
    // A core belongs to one node.
    std::ranges::copy_if(
        teams_[workers_[worker].team].workers, std::back_inserter(others),
        [&](std::size_t other) { return other != worker && cores_[other] == cores_[worker]; });
  }
  return others;
}

std::vector<std::size_t> thread_map::nearest_to(node_id node) const {
  std::vector<std::size_t> nearest;
  int least = INT_MAX;
  for (std::size_t team = 0; team < teams_.size(); ++team) {
    if (teams_[team].node == node) {
      return {team};
    }
    const int far = distance(teams_[team].node, node);
    if (far < least) {
      least = far;
      nearest.clear();
    }
    if (far == least) {
      nearest.push_back(team);
    }
  }
  return nearest;
}

std::vector<node_id> thread_map::owners() const {
  std::vector<node_id> nodes;
  std::ranges::transform(workers_, std::back_inserter(nodes), &worker::node);
  return nodes;
}

} // namespace nodewise::inline v0

namespace nodewise::inline v0::detail {

namespace {

void begin_team(slot_plan& plan, const node_team& team, std::size_t bytes) {
  const std::size_t page = sys::real_kernel().base_page_bytes();
  const std::size_t pages = arithmetic::pages_for(bytes, page);
  const std::size_t first = plan.bytes / page;
  plan.extents.push_back({first, first + pages, team.node});
  plan.bytes += pages * page;
}

} // namespace

slot_plan slots_of_workers(const thread_map& threads, std::size_t value_bytes) {
  constexpr std::size_t unit = cache_aligned_bytes;
  const std::size_t stride = (value_bytes + unit - 1) / unit * unit;
  slot_plan plan;
  plan.offsets.resize(threads.workers().size());
  for (const node_team& team : threads.teams()) {
    for (std::size_t k = 0; k < team.workers.size(); ++k) {
      plan.offsets[team.workers[k]] = plan.bytes + k * stride;
    }
    begin_team(plan, team, team.workers.size() * stride);
  }
  return plan;
}

slot_plan slots_of_teams(const thread_map& threads, std::size_t value_bytes) {
  slot_plan plan;
  for (const node_team& team : threads.teams()) {
    plan.offsets.push_back(plan.bytes);
    begin_team(plan, team, value_bytes);
  }
  return plan;
}

} // namespace nodewise::inline v0::detail
