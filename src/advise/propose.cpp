// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/propose.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "advise/entries.hpp"
#include "advise/patterns.hpp"
#include "advise/planner.hpp"
#include "advise/words.hpp"

namespace nodewise::advise {

namespace {

outcome outcome_of(const situation& of, const course& what) {
  outcome made;
  const told said = tell(of, of.costs(), what);
  made.binds = binds_in(of, said);
  if (said.bytes > 0 && !of.assumed()) {
    made.remote = said.remote;
    if (of.absolute()) {
      made.seconds = said.seconds;
    }
  }
  return made;
}

} // namespace

// A bound that only an assumption makes is told like a prediction; nothing known is never ranked.
bool is_worth_it(const gain& of) {
  return of.how == gain::kind::unavailable || of.ratio >= least_gain;
}

double samples_of(const situation& of, const std::vector<std::size_t>& sites) {
  double samples = 0;
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.sites()[s].items) {
      samples += of.sampled() ? of.items()[i].units : 0;
    }
  }
  return samples;
}

proposal propose(const picture& of, std::size_t program) {
  const situation& all = of.of;
  const profile::program& which = all.program(program);
  // No placement makes room on a node that was full of cached files.
  std::vector<std::size_t> sites;
  const std::vector<std::size_t> without_room =
      buffer_cache.sites(of, std::vector<char>(all.sites().size(), 1));
  for (std::size_t s = 0; s < all.sites().size(); ++s) {
    if (std::ranges::find(without_room, s) == without_room.end()) {
      sites.push_back(s);
    }
  }
  const decision best = decide(of, sites, choose_binding(of, program));
  proposal made;
  made.program = program;
  made.plan.program = which.name;
  made.plan.build_id = which.build_id;
  made.plan.threads = nodes_of_threads(all, program, {}).size();
  made.plan.nodes = all.machine().domains().size();
  made.plan.bind = best.threads.policy;
  made.rebinds = !best.threads.homes.empty();
  made.plan.main_works =
      !which.has_runtime() && which.threads.size() > 1 && all.main_works(program);
  made.plan.objects = entries_for(of, program, best.objects);
  made.plan.libraries = libraries_of(made.plan.objects, which);
  made.before = outcome_of(all, best.before);
  made.after = outcome_of(all, best.after);
  std::vector<std::size_t> placed;
  for (const treated& each : best.objects) {
    placed.push_back(each.site);
    if (each.how.lost > 0.001) {
      made.remarks.push_back(all.sites()[each.site].name + ": a map of fewer parts leaves " +
                             percent(each.how.lost) + " of its traffic remote");
    }
  }
  made.worth = worth_of_placing(all, best.before, best.after, samples_of(all, placed));
  std::ranges::copy(best.remarks, std::back_inserter(made.remarks));
  if (!best.threads.remark.empty()) {
    made.remarks.push_back(best.threads.remark);
  }
  if (!is_worth_it(made.worth) && best.gamble) {
    made.worth = *best.gamble;
  }
  if (made.worth.how == gain::kind::predicted && is_worth_it(made.worth) &&
      made.worth.low < no_slower) {
    made.refused = "by the model the program would be between " + number(made.worth.low) + " and " +
                   number(made.worth.high) + " times as fast: it might be slower";
    made.plan.objects.clear();
    made.plan.libraries.clear();
    made.plan.bind = bind_policy::none;
    made.rebinds = false;
    made.after = made.before;
  }
  return made;
}

} // namespace nodewise::advise
