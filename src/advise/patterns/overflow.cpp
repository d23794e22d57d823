// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/patterns/overflow.hpp"

#include <algorithm>
#include <functional>
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
    const std::size_t node = position_or_nowhere(of.costs(), run.from);
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
  const analysis_input& all = of.input;
  const auto page = static_cast<double>(all.profile().page_bytes);
  std::vector<double> wanted(all.nodes() + 1, 0);
  std::vector<double> missed(all.nodes() + 1, 0);
  std::vector<std::vector<char>> sites(all.nodes() + 1, std::vector<char>(all.sites().size(), 0));
  for (const item& each : all.items()) {
    const auto pages = static_cast<double>(each.what->pages);
    for (const auto& [memory, count] : misses(all, each, wanted)) {
      missed[memory] += count;
      if (count > some * pages && free[each.site] != 0 && all.sites()[each.site].placeable) {
        sites[memory][each.site] = 1;
      }
    }
  }
  overflow made;
  const std::size_t most = greatest_at(missed);
  const auto moved = static_cast<double>(all.profile().seen.pages_moved);
  if (missed[most] <= some * wanted[most] || moved > missed[most] / 2) {
    return made;
  }
  made.memory = most;
  made.wanted_bytes = wanted[most] * page;
  made.missed_bytes = missed[most] * page;
  made.sites = positions_where(sites[most], std::identity());
  for (const profile::node_memory& each : all.profile().memory) {
    if (position_or_nowhere(all.costs(), each.node) == most) {
      made.state = &each;
    }
  }
  return made;
}

overflow overflow_of(const analysis& of) {
  return overflow_of(of, std::vector<char>(of.input.sites().size(), 1));
}

course had_there_been_room(const analysis& of) {
  std::vector<model::page_map> maps;
  maps.reserve(of.input.items().size());
  page_maps there;
  for (const item& each : of.input.items()) {
    std::vector<model::page_block> blocks;
    std::size_t page = 0;
    const auto as_now = [&](std::size_t last) {
      for (; page < last; page = blocks.back().last) {
        blocks.push_back({std::min(last, each.now.end_of_block(page)), each.now.node_of(page)});
      }
    };
    for (const profile::touched_run& run : each.what->touched) {
      const std::size_t node = position_or_nowhere(of.input.costs(), run.from);
      const std::size_t last = std::min<std::size_t>(run.first + run.count, each.what->pages);
      if (node == nowhere || last <= page) {
        continue;
      }
      as_now(std::min<std::size_t>(run.first, last));
      if (last > page) {
        blocks.push_back({last, of.input.memory_of(node)});
        page = last;
      }
    }
    as_now(each.what->pages);
    maps.push_back(blocks.empty() ? each.now : model::page_map::of_blocks(std::move(blocks)));
    there.push_back(&maps.back());
  }
  return {flow_under(of.input, there, of.swept)};
}

} // namespace nodewise::advise
