// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/thread_map.hpp>

#include <algorithm>
#include <climits>
#include <iterator>
#include <map>
#include <utility>

namespace nodewise::inline v0 {

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
