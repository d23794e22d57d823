// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/rank_share.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::launch {

namespace {

std::vector<cpu_set> domains_of(const topology& allowed, place_kind kind) {
  std::vector<cpu_set> domains;
  if (kind == place_kind::nodes) {
    for (domain& each : allowed.domains()) {
      domains.push_back(std::move(each.cpus));
    }
  } else {
    domains = allowed.places(kind);
  }
  if (domains.empty()) {
    throw error(error_kind::usage, "a part of the machine for each rank",
                "no allowed processor belongs to a node",
                "select processors of a node; `nodewise topo` shows them");
  }
  return domains;
}

/// How many ranks each domain gets. The next rank goes to the domain where it has the most cores,
/// so the smallest part of a rank is as large as possible.
std::vector<std::size_t> ranks_of(const std::vector<std::vector<cpu_set>>& cores,
                                  std::size_t ranks) {
  std::vector<std::size_t> numbers(cores.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::size_t best = 0;
    for (std::size_t d = 1; d < cores.size(); ++d) {
      if (cores[d].size() * (numbers[best] + 1) > cores[best].size() * (numbers[d] + 1)) {
        best = d;
      }
    }
    ++numbers[best];
  }
  return numbers;
}

/// The `part`-th of `parts` equal parts of these cores.
cpu_set part_of(const std::vector<cpu_set>& cores, std::size_t part, std::size_t parts) {
  if (parts > cores.size()) {
    return cores[part * cores.size() / parts];
  }
  cpu_set cpus;
  for (std::size_t c = part * cores.size() / parts; c < (part + 1) * cores.size() / parts; ++c) {
    cpus = std::move(cpus) | cores[c];
  }
  return cpus;
}

[[noreturn]] void refuse_device(std::string_view kind, std::string answered) {
  throw error(error_kind::usage, fmt::format("--ranks-per {}", kind), std::move(answered),
              "`nodewise topo` shows devices and nodes; or give --ranks-per node");
}

/// For each device, the allowed processors near it.
std::vector<cpu_set> processors_near(const std::vector<device>& devices, const topology& allowed,
                                     std::string_view kind) {
  std::vector<cpu_set> all;
  for (const device& each : devices) {
    if (each.nodes.empty()) {
      refuse_device(kind,
                    fmt::format("the firmware does not report which node is near {}", each.name));
    }
    cpu_set& cpus = all.emplace_back();
    for (const node_id node : each.nodes) {
      cpus = std::move(cpus) | (allowed.machine().find_node(node)->cpus & allowed.allowed_cpus());
    }
    if (cpus.empty()) {
      refuse_device(kind, fmt::format("no allowed processor is on node {}, near {}",
                                      each.nodes.to_string(), each.name));
    }
  }
  return all;
}

/// The processors near a device without those to which another device is nearer, if some remain.
cpu_set own_processors(const std::vector<cpu_set>& near, std::size_t which) {
  cpu_set own = near[which];
  for (const cpu_set& each : near) {
    if (each != near[which] && near[which].includes(each)) {
      own = std::move(own) - each;
    }
  }
  return own.empty() ? near[which] : own;
}

} // namespace

rank_share share_near_device(const topology& allowed, const std::vector<device>& devices,
                             std::string_view kind, const local_rank& rank) {
  if (devices.empty()) {
    refuse_device(kind, "no such device is known on this machine");
  }
  const std::vector<cpu_set> near = processors_near(devices, allowed, kind);
  const auto number = static_cast<std::size_t>(rank.number);
  const std::size_t ranks =
      rank.count ? static_cast<std::size_t>(*rank.count) : std::max(near.size(), number + 1);
  const std::size_t mine = number % near.size();
  const cpu_set pool = own_processors(near, mine);
  std::vector<std::size_t> members; // ranks with the same device are neighbours
  for (std::size_t each = 0; each < near.size(); ++each) {
    if (near[each] == near[mine]) {
      for (std::size_t its = each; its < ranks; its += near.size()) {
        members.push_back(its);
      }
    }
  }
  const std::vector<cpu_set> cores =
      topology(allowed.machine(), pool, allowed.allowed_nodes()).places(place_kind::cores);
  const auto place = std::ranges::find(members, number) - members.begin();
  return {.cpus = part_of(cores, static_cast<std::size_t>(place), members.size()),
          .domains = near.size(),
          .cores = cores.size(),
          .came_round = !rank.count && number >= near.size(),
          .shares_core = members.size() > cores.size(),
          .device = fmt::format("{} {}", kind, devices[mine].name)};
}

rank_share share_of_rank(const topology& allowed, place_kind kind, const local_rank& rank) {
  std::vector<cpu_set> domains = domains_of(allowed, kind);
  const auto number = static_cast<std::size_t>(rank.number);
  rank_share share{.cpus = {}, .domains = domains.size()};
  const std::size_t ranks = rank.count ? static_cast<std::size_t>(*rank.count) : 0;
  if (ranks <= domains.size()) {
    share.came_round = number >= domains.size();
    share.cpus = std::move(domains[number % domains.size()]);
    return share;
  }
  std::vector<std::vector<cpu_set>> cores; // of each domain
  for (cpu_set& each : domains) {
    const topology here(allowed.machine(), std::move(each), allowed.allowed_nodes());
    cores.push_back(here.places(place_kind::cores));
    share.cores += cores.back().size();
  }
  const std::vector<std::size_t> numbers = ranks_of(cores, ranks);
  std::size_t first = 0;
  for (std::size_t d = 0; d < cores.size(); first += numbers[d], ++d) {
    if (number < first + numbers[d]) {
      share.cpus = part_of(cores[d], number - first, numbers[d]);
      share.shares_core = numbers[d] > cores[d].size();
      break;
    }
  }
  return share;
}

} // namespace nodewise::launch
