// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The shapes of all items together: owners of rows, and what threads sweep through.
#include <map>

#include "advise/shape.hpp"

namespace nodewise::advise {

namespace {

constexpr std::size_t few = 32;
// Share of the greatest user's part at which the owner stays: two threads may use a row alike.
constexpr double as_much = 0.8;
// Least mean length of a run of one owner. With four nodes and random owners the mean is 1.3.
constexpr std::size_t ordered_run = 4;

using uses_by_number = std::map<std::size_t, double>;

/// By thread of the plan: its use of an object.
uses_by_number uses_of(const analysis_input& of, const item& what) {
  uses_by_number sums;
  for (const profile::use_run& run : what.uses) {
    for_each_use(of, what, run, [&](std::size_t w, double amount) {
      if (of.workers[w].number != nowhere) {
        sums[of.workers[w].number] += amount;
      }
    });
  }
  return sums;
}

double share_of_thread(const uses_by_number& uses, std::size_t thread) {
  const auto own = uses.find(thread);
  const double all = sum_over(uses, [](const auto& each) { return each.second; });
  return own == uses.end() || !(all > 0) ? 0 : own->second / all;
}

/// Joins consecutive objects with one owner. An unused object joins those before it.
std::vector<site_part> runs_of_owners(const analysis_input& of, const positions& items) {
  std::vector<site_part> runs;
  for (const std::size_t i : items) {
    const uses_by_number uses = uses_of(of, of.items[i]);
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
    const std::optional<std::size_t> owner = runs.back().owner;
    runs.back().shares.push_back(owner ? share_of_thread(uses, *owner) : 0);
  }
  return runs;
}

/// Whether objects are used almost only by their owners, in three loops or more. If chance picked
/// one of four nodes in each of three loops, an owner would have 0.56 on average.
bool are_exclusive(const analysis_input& of, const std::vector<site_part>& runs) {
  constexpr double nearly_alone = 0.8;
  constexpr double least_repeats = 3;
  double owners = 0;
  double objects = 0;
  double fetched = 0;
  double bytes = 0;
  for (const site_part& run : runs) {
    for (std::size_t k = 0; k < run.items.size(); ++k) {
      const item& one = of.items[run.items[k]];
      owners += run.shares[k];
      objects += 1;
      fetched += one.units * of.program(one.program).use_unit_bytes;
      bytes += static_cast<double>(one.what->bytes);
    }
  }
  return owners >= nearly_alone * objects && fetched >= least_repeats * bytes;
}

std::vector<site_part> one_by_one(const std::vector<site_part>& runs) {
  std::vector<site_part> parts;
  for (const site_part& run : runs) {
    for (std::size_t k = 0; k < run.items.size(); ++k) {
      parts.push_back({{run.items[k]}, run.owner, {run.shares[k]}});
    }
  }
  return parts;
}

} // namespace

analysis::analysis(analysis_input of) : analysis_input(std::move(of)) {
  for (const item& each : items) {
    shapes.push_back(shape_of(*this, each));
  }
  for (const site& each : sites) {
    parts.push_back(parts_of_site(*this, each.items));
    // Rows have an owner if their neighbours show it: threads work on different rows.
    constexpr double more_than_equal = 1.5;
    for (const site_part& part : parts.back()) {
      for (std::size_t k = 0; k < part.items.size(); ++k) {
        shapes[part.items[k]].owned =
            part.owner && part.shares[k] >= more_than_equal / static_cast<double>(nodes());
      }
    }
  }
  const double anyones = sum_over(positions_to(items.size()), [&](std::size_t i) {
    return shapes[i].anyones() ? items[i].bytes() : 0;
  });
  constexpr double most = 0.5;
  if (!assumed && anyones > most * bytes) {
    for (const shape& each : shapes) {
      swept.push_back(each.anyones() ? 1 : 0);
    }
  }
}

bool are_scattered(const analysis& of, const positions& items) {
  return std::ranges::any_of(items, [&](std::size_t i) { return of.shapes[i].scattered(); });
}

double remote_bytes(const analysis& of, const positions& items) {
  return sum_over(items, [&](std::size_t i) { return of.shapes[i].remote * of.items[i].bytes(); });
}

std::vector<site_part> parts_of_site(const analysis_input& of, const positions& items) {
  if (items.size() < 2) {
    return {};
  }
  std::vector<site_part> runs = runs_of_owners(of, items);
  const bool owned = runs.size() * ordered_run <= items.size() || are_exclusive(of, runs);
  if (!owned && items.size() > few) {
    return {};
  }
  if (!owned) {
    for (site_part& each : runs) {
      each.owner.reset();
    }
  }
  std::vector<site_part> parts = items.size() > few ? std::move(runs) : one_by_one(runs);
  return parts.size() > 1 ? parts : std::vector<site_part>{};
}

} // namespace nodewise::advise
