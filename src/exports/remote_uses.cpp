// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "exports/remote_uses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace nodewise::exports {

namespace {

/// The share of the run's pages on each node.
std::map<node_id, double> nodes_of(const profile::use_run& run,
                                   std::span<const profile::resident_run> where) {
  std::map<node_id, double> shares;
  const std::uint64_t end = run.first + run.count;
  for (const profile::resident_run& each : where) {
    if (each.first >= end) {
      break;
    }
    const std::uint64_t first = std::max(each.first, run.first);
    const std::uint64_t last = std::min(each.first + each.count, end);
    if (each.node != unknown_node && last > first) {
      shares[each.node] += static_cast<double>(last - first) / static_cast<double>(run.count);
    }
  }
  return shares;
}

} // namespace

std::vector<remote_use> remote_uses_of(const profile::object& what, const profile::program& in) {
  std::map<std::pair<profile::thread_index, node_id>, double> all;
  std::span<const profile::resident_run> where = what.where;
  for (const profile::use_run& run : what.uses) {
    while (!where.empty() && where.front().first + where.front().count <= run.first) {
      where = where.subspan(1);
    }
    const std::map<node_id, double> nodes = nodes_of(run, where);
    for (const profile::use& each : run.by) {
      const node_id home = in.threads[each.by].home();
      for (const auto& [node, share] : nodes) {
        if (home != unknown_node && home != node) {
          all[{each.by, node}] += each.amount * share;
        }
      }
    }
  }
  std::vector<remote_use> uses;
  for (const auto& [key, amount] : all) {
    uses.push_back({key.first, key.second, amount});
  }
  return uses;
}

std::vector<std::int64_t> whole_parts(std::span<const double> amounts) {
  constexpr double most = 9007199254740992; // larger numbers have no exact units in a double
  std::vector<std::int64_t> parts;
  std::vector<double> rests;
  double sum = 0;
  for (const double each : amounts) {
    const double amount = each > 0 ? std::min(each, most) : 0;
    parts.push_back(static_cast<std::int64_t>(std::floor(amount)));
    rests.push_back(amount - std::floor(amount));
    sum += rests.back();
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-rests[i], i); });
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::llround(sum))));
  for (const std::size_t i : order) {
    ++parts[i];
  }
  return parts;
}

} // namespace nodewise::exports
