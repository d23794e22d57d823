// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/planned.hpp"

#include <algorithm>
#include <set>

#include <nodewise/team_layout.hpp>

#include "placement/resolve.hpp"

namespace nodewise::cli {

namespace {

constexpr std::size_t most_turns_drawn = 4096; ///< finer ones look like their shares

/// The threads that were seen at work, in the order of their start: a runtime numbers them so.
std::vector<profile::thread_index> workers_of(const profile::program& in) {
  std::vector<profile::thread_index> all;
  for (profile::thread_index i = 0; i < in.threads.size(); ++i) {
    if (in.threads[i].home() != unknown_node) {
      all.push_back(i);
    }
  }
  return all;
}

/// As the plan binds them; if it does not, as they were observed.
std::vector<node_id> nodes_of_threads(const plans::plan_file& what, const topology& on,
                                      const profile::program& in) {
  if (what.bind == bind_policy::none || what.threads == 0) {
    std::vector<node_id> homes;
    for (const profile::thread_index each : workers_of(in)) {
      homes.push_back(in.threads[each].home());
    }
    return homes;
  }
  const team_layout team(on, {.policy = what.bind, .threads = what.threads, .places = what.places});
  std::vector<node_id> all;
  for (const thread_place& each : team.threads()) {
    all.push_back(each.node);
  }
  return all;
}

/// Every page in the shares that the owners have of a round.
drawing::strip_run in_shares(const std::vector<node_id>& owners, std::uint64_t pages) {
  drawing::strip_run made{0, pages, {}};
  const double turn = 1 / static_cast<double>(owners.size());
  for (const node_id each : std::set<node_id>(owners.begin(), owners.end())) {
    made.shares.emplace_back(each, turn * static_cast<double>(std::ranges::count(owners, each)));
  }
  return made;
}

std::vector<drawing::strip_run> in_rounds(const std::vector<node_id>& owners, std::uint64_t turn,
                                          std::uint64_t pages) {
  if (pages / turn > most_turns_drawn) {
    return {in_shares(owners, pages)};
  }
  std::vector<drawing::strip_run> made;
  for (std::uint64_t first = 0; first < pages; first += turn) {
    const node_id owner = owners[(first / turn) % owners.size()];
    made.push_back({first, std::min(turn, pages - first), {{owner, 1}}});
  }
  return made;
}

} // namespace

planned_pages::planned_pages(const plans::plan_file& what, const topology& on,
                             const profile::program& in)
    : what_(what), on_(on), workers_(workers_of(in)), threads_(nodes_of_threads(what, on, in)) {}

node_id planned_pages::node_of(profile::thread_index of) const {
  const auto worker = std::ranges::find(workers_, of);
  return workers_.size() == threads_.size() && worker != workers_.end()
             ? threads_[static_cast<std::size_t>(worker - workers_.begin())]
             : unknown_node;
}

std::optional<drawing::strip> planned_pages::strip_of(std::string_view array, std::uint64_t pages,
                                                      std::size_t page_bytes) const {
  const auto entry = std::ranges::find_if(
      what_.objects, [&](const plans::entry& each) { return plans::label_of(each) == array; });
  if (entry == what_.objects.end()) {
    return std::nullopt;
  }
  std::vector<drawing::strip_run> runs = runs_of(entry->where, pages, page_bytes);
  return runs.empty() ? std::nullopt
                      : std::optional(drawing::strip{"planned: pages on", std::move(runs)});
}

std::vector<drawing::strip_run> planned_pages::runs_of(const placements::placement& where,
                                                       std::uint64_t pages,
                                                       std::size_t page_bytes) const {
  const placements::placement what = placements::resolved(where, placements::grammar::plan_file,
                                                          {[&] { return threads_; }, what_.threads,
                                                           [&] { return on_.memory_nodes(); },
                                                           [&] {
                                                             node_set all;
                                                             for (const node_id each : threads_) {
                                                               if (each != unknown_node) {
                                                                 all.insert(each);
                                                               }
                                                             }
                                                             return all;
                                                           }});
  const placements::traits& how = placements::traits_of(what.how);
  const std::vector<node_id> owners =
      how.has_blocks() ? threads_ : placements::owners_of(what.owners);
  if (owners.empty() || pages == 0) {
    return {};
  }
  switch (how.divided) {
  case placements::division::none:
    if (how.policy == placements::kernel_policy::interleave) {
      return in_rounds(owners, 1, pages);
    }
    return how.has_homes && owners.size() == 1
               ? std::vector<drawing::strip_run>{{0, pages, {{owners.front(), 1}}}}
               : std::vector<drawing::strip_run>{};
  case placements::division::rounds:
    return in_rounds(owners, std::max<std::uint64_t>(1, what.granule_bytes / page_bytes), pages);
  case placements::division::parts:
    break;
  }
  std::vector<drawing::strip_run> made;
  std::uint64_t first = 0;
  for (std::size_t k = 0; k < owners.size(); ++k) {
    const std::uint64_t end = k + 1 == owners.size() ? pages : pages * (k + 1) / owners.size();
    if (end > first) {
      made.push_back({first, end - first, {{owners[k], 1}}});
      first = end;
    }
  }
  return made;
}

} // namespace nodewise::cli
