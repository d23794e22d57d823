// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the local search moves: the objects that share a candidate, and their candidates.
#include <iterator>

#include "advise/local_search.hpp"

namespace nodewise::advise {

namespace {

// Sites with a smaller share of the traffic, and those after the first `most_units`, are left as
// they are.
constexpr double least_traffic = 0.001;
constexpr std::size_t most_units = 64;
constexpr std::size_t most_runs_in_all = 16000;
constexpr std::size_t most_runs_each = 512;
constexpr std::size_t least_runs_each = 16;
// Objects of one site get separate entries, by order, only if that makes this share of their
// traffic near; of a few objects, a smaller one.
constexpr double worth_splitting = 0.02;
constexpr double worth_splitting_few = 0.0003;
constexpr std::size_t few_parts = 4;

} // namespace

void local_search::make_units(const positions& sites) {
  positions worthy = sites;
  std::erase_if(worthy, [&](std::size_t s) {
    return !of_.sites[s].placeable || of_.sites[s].bytes <= least_traffic * of_.bytes;
  });
  worthy.resize(std::min(worthy.size(), most_units));
  const positions most_runs = longest_maps(worthy);
  for (std::size_t k = 0; k < worthy.size(); ++k) {
    const std::size_t s = worthy[k];
    unit whole = unit_of(s, of_.sites[s].items, most_runs[k]);
    std::vector<unit> single;
    std::span<const site_part> parts = of_.parts[s];
    parts = parts.first(parts.size() <= most_units ? parts.size() : 0);
    for (const site_part& part : parts) {
      const std::size_t runs = std::max(most_runs[k] / parts.size(), least_runs_each);
      single.push_back(unit_of(s, part.items, runs));
      // Offers the node of the owner, unless it is a candidate already.
      if (std::vector<candidate>& choices = single.back().choices;
          part.owner && std::ranges::find(choices, on_thread(*part.owner).where,
                                          &candidate::where) == choices.end()) {
        choices.push_back(on_thread(*part.owner));
      }
    }
    const double least = single.size() <= few_parts ? worth_splitting_few : worth_splitting;
    if (!single.empty() && least_remote(single) + least < least_remote({whole})) {
      std::ranges::move(single, std::back_inserter(units_));
    } else {
      units_.push_back(std::move(whole));
    }
  }
}

/// The most runs that a map of each site may have: its share of all runs is its share of the
/// traffic. A coarser map of scattered pages would be wrong for most of them, so these sites also
/// get the runs that other sites do not need.
positions local_search::longest_maps(const positions& sites) const {
  const auto part = [](double bytes, double all_bytes, double runs) {
    return std::max(least_runs_each, static_cast<std::size_t>(runs * bytes / all_bytes));
  };
  const auto bytes = [&](std::size_t k) { return of_.sites[sites[k]].bytes; };
  const positions scattered = positions_below(
      sites.size(), [&](std::size_t k) { return are_scattered(of_, of_.sites[sites[k]].items); });
  const double all_bytes = bytes_moved(of_, sites);
  const double scattered_bytes = sum_over(scattered, bytes);
  positions most(sites.size());
  double left = most_runs_in_all;
  for (std::size_t k = 0; k < sites.size(); ++k) {
    if (!std::ranges::binary_search(scattered, k)) {
      most[k] = std::min(part(bytes(k), all_bytes, most_runs_in_all), most_runs_each);
      left -= static_cast<double>(most[k]);
    }
  }
  for (const std::size_t k : scattered) {
    most[k] = part(bytes(k), scattered_bytes, std::max(left, 0.0));
  }
  return most;
}

local_search::unit local_search::unit_of(std::size_t site, const positions& items,
                                         std::size_t most_runs) const {
  const double bytes = sum_over(items, [&](std::size_t i) { return of_.items[i].bytes(); });
  return {site, items, candidates_for(of_, items, homes_, most_runs), {}, 0, bytes};
}

/// The share of the units' bytes that stays far with the best candidate of each.
double local_search::least_remote(const std::vector<unit>& units) const {
  const auto least = [&](const unit& of) {
    double remote = 1;
    for (const candidate& how : of.choices) {
      flow_of_time flow(1, matrix(of_));
      for (const std::size_t i : of.items) {
        const item& one = of_.items[i];
        add_item(of_, one, map_under(of_, one, how, homes_), flow.front());
      }
      remote = std::min(remote, predict(of_, {flow, homes_}).remote);
    }
    return remote * of.bytes;
  };
  const double all = sum_over(units, &unit::bytes);
  return all > 0 ? sum_over(units, least) / all : 0;
}

} // namespace nodewise::advise
