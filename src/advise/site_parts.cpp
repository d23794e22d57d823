// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/site_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace nodewise::advise {

namespace {

constexpr std::size_t few = 32;
// Of the greatest user's part: then the owner does not change. Two threads may use a row alike.
constexpr double as_much = 0.8;
// Objects a run of one owner, at least. With four nodes and owners by chance there are 1.3.
constexpr std::size_t ordered_run = 4;

/// What each thread of the plan uses of an object.
std::map<std::size_t, double> uses_by_number(const situation& of, const item& what) {
  std::map<std::size_t, double> sums;
  for (const profile::use_run& run : what.uses) {
    for (const profile::use& use : run.by) {
      const std::size_t w = what.first_worker + use.by;
      const std::size_t number = w < of.workers().size() ? of.workers()[w].number : nowhere;
      if (number != nowhere && std::isfinite(use.amount) && use.amount > 0) {
        sums[number] += use.amount;
      }
    }
  }
  return sums;
}

std::vector<site_part> runs_of_owners(const situation& of, const std::vector<std::size_t>& items) {
  std::vector<site_part> runs;
  for (const std::size_t i : items) {
    const std::map<std::size_t, double> uses = uses_by_number(of, of.items()[i]);
    const auto most =
        std::ranges::max_element(uses, {}, [](const auto& each) { return each.second; });
    const auto before =
        runs.empty() || !runs.back().owner ? uses.end() : uses.find(*runs.back().owner);
    const bool goes_on =
        !runs.empty() &&
        (uses.empty() || (before != uses.end() && before->second >= as_much * most->second));
    if (!goes_on) {
      runs.emplace_back();
      runs.back().owner = uses.empty() ? std::nullopt : std::optional(most->first);
    }
    runs.back().items.push_back(i);
  }
  return runs;
}

} // namespace

double used_share(const situation& of, const item& what, std::size_t thread) {
  const std::map<std::size_t, double> uses = uses_by_number(of, what);
  const auto own = uses.find(thread);
  double all = 0;
  for (const auto& [number, amount] : uses) {
    all += amount;
  }
  return own == uses.end() || !(all > 0) ? 0 : own->second / all;
}

namespace {

/// Each object is used by its owner nearly alone, in three loops or more. If chance gave it to one
/// of four nodes in each of three loops, its owner would have 0.56 on average.
bool are_exclusive(const situation& of, const std::vector<site_part>& runs) {
  constexpr double nearly_alone = 0.8;
  constexpr double least_repeats = 3;
  double owners = 0;
  double objects = 0;
  double fetched = 0;
  double bytes = 0;
  for (const site_part& run : runs) {
    for (const std::size_t i : run.items) {
      const item& one = of.items()[i];
      owners += run.owner ? used_share(of, one, *run.owner) : 0;
      objects += 1;
      fetched += one.units * of.program(one.program).use_unit_bytes;
      bytes += static_cast<double>(one.what->bytes);
    }
  }
  return owners >= nearly_alone * objects && fetched >= least_repeats * bytes;
}

} // namespace

std::vector<site_part> parts_of_site(const situation& of, const std::vector<std::size_t>& items,
                                     std::size_t most) {
  std::vector<site_part> parts;
  if (items.size() < 2) {
    return parts;
  }
  const std::vector<site_part> runs = runs_of_owners(of, items);
  const bool owned = runs.size() * ordered_run <= items.size() || are_exclusive(of, runs);
  if (!owned && items.size() > few) {
    return parts;
  }
  for (const site_part& run : runs) {
    const std::optional<std::size_t> owner = owned ? run.owner : std::nullopt;
    if (items.size() > few) {
      parts.push_back({run.items, owner});
      continue;
    }
    for (const std::size_t i : run.items) {
      parts.push_back({{i}, owner});
    }
  }
  return parts.size() > 1 && parts.size() <= most ? parts : std::vector<site_part>{};
}

} // namespace nodewise::advise
