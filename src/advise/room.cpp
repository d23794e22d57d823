// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/local_search.hpp"

#include <limits>
#include <tuple>

namespace nodewise::advise {

namespace {

// The kernel keeps some memory of each node, and page tables are not counted.
constexpr double usable = 0.98;

double free_bytes(const analysis_input& of, std::size_t node) {
  double free = std::numeric_limits<double>::infinity();
  const memory_node* const here = of.machine.machine().find_node(of.costs.nodes[node]);
  if (here != nullptr && here->memory_bytes > 0) {
    free = static_cast<double>(here->memory_bytes);
  }
  for (const profile::node_memory& each : of.profile.memory) {
    if (each.node == of.costs.nodes[node] && each.total_bytes > 0) {
      free = std::min(free, static_cast<double>(each.free_bytes) +
                                static_cast<double>(each.cache_bytes)); // the kernel reclaims it
    }
  }
  return usable * free;
}

/// Bytes by memory; the last entry is unknown memory.
std::vector<double> spread_of(const analysis_input& of, const item& what,
                              const model::page_map& map) {
  std::vector<double> sums(of.nodes() + 1, 0);
  if (const auto pages = static_cast<double>(what.what->pages); pages > 0) {
    const auto resident = static_cast<double>(what.what->resident);
    const double share = resident > 0 ? std::min(1.0, resident / pages) : 1; // 0: not queried
    map.add_pages(0, pages, share * static_cast<double>(of.profile.page_bytes), sums);
  }
  return sums;
}

} // namespace

room::room(const analysis_input& of) : of_(of) {
  for (std::size_t n = 0; n < of.nodes(); ++n) {
    free_.push_back(free_bytes(of, n));
  }
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    const profile::object& what = *of.items[i].what;
    if (what.kind != profile::object_kind::file && what.kind != profile::object_kind::other) {
      events_.push_back({what.allocated_s, true, i});
      if (!what.live_at_end && what.freed_s > what.allocated_s) {
        events_.push_back({what.freed_s, false, i});
      }
    }
  }
  std::ranges::sort(events_, {},
                    [](const event& each) { return std::tuple(each.at_s, each.comes, each.item); });
  now_ = most_at_once(std::vector<candidate>(of.items.size()), {});
}

std::vector<double> room::most_at_once(const std::vector<candidate>& by_item,
                                       const positions& homes) const {
  std::vector<double> most(of_.nodes() + 1, 0);
  std::vector<double> at_once(of_.nodes() + 1, 0);
  std::vector<std::vector<double>> spread(of_.items.size());
  for (const event& each : events_) {
    const item& what = of_.items[each.item];
    std::vector<double>& bytes = spread[each.item];
    if (bytes.empty()) {
      bytes = spread_of(of_, what, map_under(of_, what, by_item[each.item], homes));
    }
    for (std::size_t n = 0; n < most.size(); ++n) {
      at_once[n] += each.comes ? bytes[n] : -bytes[n];
      most[n] = std::max(most[n], at_once[n]);
    }
  }
  return most;
}

std::vector<double> room::missing(const std::vector<candidate>& by_item,
                                  const positions& homes) const {
  std::vector<double> made = most_at_once(by_item, homes);
  made.pop_back();
  for (std::size_t n = 0; n < made.size(); ++n) {
    made[n] = std::max(0.0, made[n] - std::max(free_[n], now_[n]));
  }
  return made;
}

} // namespace nodewise::advise
