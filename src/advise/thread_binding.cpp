// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Chooses the nodes where threads are to run.
#include <algorithm>
#include <utility>

#include <nodewise/error.hpp>

#include "advise/planner.hpp"

namespace nodewise::advise {

namespace {

bool has_work(const worker& of) {
  return of.active && of.home != nowhere && of.number != nowhere;
}

/// Whether the threads that the program starts have the places that a policy gives them if the main
/// thread waits. Here the main thread works, so each thread is one place before its own.
bool is_one_place_off(const analysis_input& of, std::size_t program, const positions& homes) {
  const profile::program& which = of.program(program);
  if (which.has_runtime() || !of.main_works(program)) {
    return false;
  }
  positions nodes(homes.size(), nowhere);
  for (std::size_t w = 0; w < homes.size(); ++w) {
    if (of.workers()[w].number < nodes.size()) {
      nodes[of.workers()[w].number] = homes[w];
    }
  }
  const auto others = [&](const worker& each) { return has_work(each) && each.number > 0; };
  return std::ranges::any_of(of.workers(), others) &&
         std::ranges::all_of(of.workers(), [&](const worker& each) {
           return !others(each) || each.home == nodes[each.number - 1];
         });
}

} // namespace

positions homes_under(const analysis_input& of, std::size_t program, bind_policy policy) {
  const std::size_t threads = nodes_of_threads(of, program, {}).size();
  positions homes(of.workers().size(), nowhere);
  try {
    const team_layout layout(of.machine(), policy, threads);
    const std::vector<node_id> owners = layout.owners();
    for (std::size_t w = 0; w < homes.size(); ++w) {
      const worker& each = of.workers()[w];
      homes[w] = each.home;
      if (each.program == program && each.number < owners.size()) {
        homes[w] = position_or_nowhere(of.costs(), owners[each.number]);
      }
    }
  } catch (const error&) { // no processor is allowed, or some span several nodes
    return {};
  }
  return homes;
}

binding choose_binding(const analysis& of, std::size_t program) {
  const analysis_input& all = of.input;
  if (all.programs().size() > 1) {
    return {bind_policy::none, {}, "the job's launcher binds its processes: keep its binding"};
  }
  const std::size_t threads = nodes_of_threads(all, program, {}).size();
  if (threads == 0) {
    return {bind_policy::none, {}, "no thread was observed at work"};
  }
  // A single thread that stays on its node needs no binding: all threads that it starts would share
  // its place.
  const bool is_team = threads > 1;
  const bool moved = std::ranges::any_of(
      all.workers(), [&](const worker& each) { return has_work(each) && each.roams; });
  binding best;
  double least = 0;
  for (const bind_policy policy : {bind_policy::close, bind_policy::spread}) {
    positions homes = homes_under(all, program, policy);
    if (homes.empty()) {
      continue;
    }
    bool same = true;
    for (std::size_t w = 0; w < homes.size(); ++w) {
      same = same && (!has_work(all.workers()[w]) || homes[w] == all.workers()[w].home);
    }
    if (!moved && same) {
      return {policy, {}, ""};
    }
    if (!same && is_one_place_off(all, program, homes)) {
      return {policy, std::move(homes), ""};
    }
    if (!moved && !is_team) {
      continue;
    }
    binding one{policy, std::move(homes), ""};
    const decision placed = decide(of, positions_to(all.sites().size()), one);
    const double seconds = predict(all, placed.after).seconds;
    if (best.homes.empty() || seconds < least) {
      least = seconds;
      best = std::move(one);
    }
  }
  if (!moved && is_team) {
    best.remark = "threads stayed on their nodes, but as under neither close nor spread: the plan "
                  "binds them anew, unless the program binds them";
  }
  return best;
}

} // namespace nodewise::advise
