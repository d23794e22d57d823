// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/ranks.hpp"

#include <utility>
#include <vector>

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

/// The `part`-th of `parts` equal parts of a domain, in whole cores.
cpu_set part_of(const topology& domain, std::size_t part, std::size_t parts, bool& shares_core) {
  const std::vector<cpu_set> cores = domain.places(place_kind::cores);
  shares_core = parts > cores.size();
  if (shares_core) {
    return cores[part * cores.size() / parts];
  }
  cpu_set cpus;
  for (std::size_t c = part * cores.size() / parts; c < (part + 1) * cores.size() / parts; ++c) {
    cpus = std::move(cpus) | cores[c];
  }
  return cpus;
}

} // namespace

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
  // Domain d has the ranks from ceil(d * ranks / domains) on.
  const std::size_t mine = number * domains.size() / ranks;
  const auto first_of = [&](std::size_t d) {
    return (d * ranks + domains.size() - 1) / domains.size();
  };
  const topology here(allowed.machine(), std::move(domains[mine]), allowed.allowed_nodes());
  share.cpus = part_of(here, number - first_of(mine), first_of(mine + 1) - first_of(mine),
                       share.shares_core);
  return share;
}

} // namespace nodewise::launch
