// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/planner.hpp"

#include <nodewise/error.hpp>

#include "advise/local_search.hpp"

namespace nodewise::advise {

namespace {

decision searched(const analysis& of, const positions& sites, const binding& threads, caution how) {
  decision made;
  made.threads = threads;
  made.before = {flow_under(of, {}, of.swept), {}};
  local_search best(of, sites, threads.homes, how);
  best.run(most_seconds(of.costs, predict(of, made.before).seconds));
  made.objects = best.result();
  made.remarks = best.remarks();
  made.after = {best.flow(), threads.homes};
  if (!of.swept.empty()) {
    average(peers_in(of, threads.homes), made.after.traffic);
  }
  return made;
}

/// Not slower even in the worst case of what the model does not know, and clearly faster if
/// farther.
bool is_safe(const analysis_input& of, const decision& made) {
  const prediction now = predict(of, made.before);
  const prediction then = predict(of, made.after);
  constexpr double noise = 0.002;
  const bool farther = then.remote > now.remote + noise;
  if (farther && !is_worth_being_far(of.costs, then, now)) {
    return false;
  }
  return then.seconds <= most_seconds(of.costs, now.seconds) &&
         (made.objects.empty() ||
          least_ratio(of, made.before, made.after) >= (farther ? least_gain : no_slower));
}

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
    if (of.workers[w].number < nodes.size()) {
      nodes[of.workers[w].number] = homes[w];
    }
  }
  const auto others = [&](const worker& each) { return has_work(each) && each.number > 0; };
  return std::ranges::any_of(of.workers, others) &&
         std::ranges::all_of(of.workers, [&](const worker& each) {
           return !others(each) || each.home == nodes[each.number - 1];
         });
}

} // namespace

decision bound_alone(const analysis& of, const binding& threads) {
  decision made = searched(of, {}, threads, caution::near);
  if (!threads.homes.empty() && !is_safe(of, made)) {
    made.threads = {bind_policy::none, {}, ""};
    made.after = made.before;
  }
  return made;
}

decision decide_boldly(const analysis& of, const positions& sites, const binding& threads) {
  return searched(of, sites, threads, caution::by_time);
}

decision decide(const analysis& of, const positions& sites, const binding& threads) {
  decision made = decide_boldly(of, sites, threads);
  if (is_safe(of, made)) {
    return made;
  }
  const gain gamble = worth_of(of, made.before, made.after);
  made = searched(of, sites, threads, caution::near);
  if (!is_safe(of, made)) {
    made = bound_alone(of, threads);
  }
  made.gamble = gamble;
  return made;
}

positions homes_under(const analysis_input& of, std::size_t program, bind_policy policy) {
  const std::size_t threads = nodes_of_threads(of, program, {}).size();
  positions homes(of.workers.size(), nowhere);
  try {
    const team_layout layout(of.machine, policy, threads);
    const std::vector<node_id> owners = layout.owners();
    for (std::size_t w = 0; w < homes.size(); ++w) {
      const worker& each = of.workers[w];
      homes[w] = each.home;
      if (each.program == program && each.number < owners.size()) {
        homes[w] = of.position_of(owners[each.number]);
      }
    }
  } catch (const error&) { // no processor is allowed, or some span several nodes
    return {};
  }
  return homes;
}

binding choose_binding(const analysis& of, std::size_t program) {
  if (of.programs.size() > 1) {
    return {bind_policy::none, {}, "the job's launcher binds its processes: keep its binding"};
  }
  const std::size_t threads = nodes_of_threads(of, program, {}).size();
  if (threads == 0) {
    return {bind_policy::none, {}, "no thread was observed at work"};
  }
  // A single thread that stays on its node needs no binding: all threads that it starts would share
  // its place.
  const bool is_team = threads > 1;
  const bool moved = std::ranges::any_of(
      of.workers, [&](const worker& each) { return has_work(each) && each.roams; });
  binding best;
  double least = 0;
  for (const bind_policy policy : {bind_policy::close, bind_policy::spread}) {
    positions homes = homes_under(of, program, policy);
    if (homes.empty()) {
      continue;
    }
    const bool same = std::ranges::all_of(positions_to(homes.size()), [&](std::size_t w) {
      return !has_work(of.workers[w]) || homes[w] == of.workers[w].home;
    });
    if (!moved && same) {
      return {policy, {}, ""};
    }
    if (!same && is_one_place_off(of, program, homes)) {
      return {policy, std::move(homes), ""};
    }
    if (!moved && !is_team) {
      continue;
    }
    binding one{policy, std::move(homes), ""};
    const decision placed = decide(of, positions_to(of.sites.size()), one);
    const double seconds = predict(of, placed.after).seconds;
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
