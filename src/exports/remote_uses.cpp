// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "exports/remote_uses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace nodewise::exports {

std::vector<remote_use> remote_uses_of(const profile::object& what,
                                       const profile::thread_places& threads) {
  std::map<std::pair<profile::thread_index, node_id>, double> all;
  const auto see = [&](profile::thread_index by, node_id from, node_id memory, double amount) {
    if (from != unknown_node && memory != unknown_node && from != memory) {
      all[{by, memory}] += amount;
    }
  };
  profile::for_each_moved_part(what, threads, see);
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
