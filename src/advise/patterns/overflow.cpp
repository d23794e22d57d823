// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/candidates.hpp"
#include "advise/patterns.hpp"

#include <map>

namespace nodewise::advise {

namespace {

// A smaller share is elsewhere anyway: a few kernel pages were in the way.
constexpr double some = 0.02;

/// Pages that missed their memory, by that memory; adds all wanted pages to `wanted`.
std::map<std::size_t, double> misses(const analysis_input& of, const item& what,
                                     std::vector<double>& wanted) {
  std::map<std::size_t, double> missed;
  std::vector<double> sums(of.nodes() + 1);
  for (const profile::touched_run& run : what.what->touched) {
    const std::size_t node = of.position_of(run.from);
    if (node == nowhere || run.count == 0) {
      continue;
    }
    const std::size_t memory = of.memory_of(node);
    std::ranges::fill(sums, 0);
    const auto first = static_cast<double>(run.first);
    const auto count = static_cast<double>(run.count);
    what.now.add_pages(first, first + count, 1, sums);
    wanted[memory] += count;
    missed[memory] += count - sums[memory] - sums.back();
  }
  return missed;
}

} // namespace

overflow overflow_of(const analysis& of, const std::vector<char>& free) {
  const auto page = static_cast<double>(of.profile.page_bytes);
  std::vector<double> wanted(of.nodes() + 1, 0);
  std::vector<double> missed(of.nodes() + 1, 0);
  std::vector<std::vector<char>> sites(of.nodes() + 1, std::vector<char>(of.sites.size(), 0));
  for (const item& each : of.items) {
    const auto pages = static_cast<double>(each.what->pages);
    for (const auto& [memory, count] : misses(of, each, wanted)) {
      missed[memory] += count;
      if (count > some * pages && free[each.site] != 0 && of.sites[each.site].placeable) {
        sites[memory][each.site] = 1;
      }
    }
  }
  overflow made;
  const std::size_t most = greatest_at(missed);
  const auto moved = static_cast<double>(of.profile.seen.pages_moved);
  if (missed[most] <= some * wanted[most] || moved > missed[most] / 2) {
    return made;
  }
  made.memory = most;
  made.wanted_bytes = wanted[most] * page;
  made.missed_bytes = missed[most] * page;
  made.sites = positions_where(sites[most], std::identity());
  for (const profile::node_memory& each : of.profile.memory) {
    if (of.position_of(each.node) == most) {
      made.state = &each;
    }
  }
  return made;
}

overflow overflow_of(const analysis& of) {
  return overflow_of(of, std::vector<char>(of.sites.size(), 1));
}

course had_there_been_room(const analysis& of) {
  std::vector<model::page_map> maps;
  maps.reserve(of.items.size());
  page_maps there;
  for (const item& each : of.items) {
    maps.push_back(map_after(each, [&](const profile::touched_run& run, std::size_t memory) {
      const std::size_t node = of.position_of(run.from);
      return node == nowhere ? memory : of.memory_of(node);
    }));
    there.push_back(&maps.back());
  }
  return {flow_under(of, there, of.swept)};
}

} // namespace nodewise::advise
