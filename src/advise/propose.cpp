// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/propose.hpp"

#include <iterator>
#include <limits>

#include "advise/patterns.hpp"
#include "bind/team_sizes.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::string> remarks_on(const analysis& of, const decision& made) {
  std::vector<std::string> all;
  for (const assignment& each : made.objects) {
    if (each.how.where.how == placements::kind::map && are_scattered(of, each.items)) {
      all.push_back(fmt::format("{}: its map follows the data of this input, and another input "
                                "needs its own",
                                of.sites[each.site].name));
    }
    if (each.how.lost > 0.001) {
      all.push_back(fmt::format("{}: a map of fewer parts leaves {} of its traffic remote",
                                of.sites[each.site].name, percent(each.how.lost)));
    }
  }
  std::ranges::copy(made.remarks, std::back_inserter(all));
  if (!made.threads.remark.empty()) {
    all.push_back(made.threads.remark);
  }
  return all;
}

gain worth_of_decision(const analysis_input& of, const decision& made) {
  positions placed;
  for (const assignment& each : made.objects) {
    placed.push_back(each.site);
  }
  gain worth = worth_of_placing(of, made.before, made.after, samples_of(of, placed));
  return !is_worth_it(worth) && made.gamble ? *made.gamble : worth;
}

/// Why a plan is not offered; empty if it is offered.
std::string refusal_of(const gain& worth, const std::optional<double>& repetitions) {
  if (worth.how == gain::kind::predicted && is_worth_it(worth) && worth.low < no_slower) {
    return fmt::format("the model predicts {} to {} times the speed: the program might be slower",
                       number(worth.low), number(worth.high));
  }
  if (repetitions && std::isinf(*repetitions)) {
    return "the model predicts a slower initialisation, and nothing else becomes faster";
  }
  return {};
}

/// Instructions were counted only in the phase of use, so initialisation is priced by its traffic.
run_times times_of(const analysis_input& of, const course& use, const course& initialisation) {
  return {predict(of, use), predict(of, of.costs, initialisation, model::unlimited)};
}

} // namespace

positions placeable_sites(const analysis& of) {
  const std::size_t count = of.sites.size();
  const positions without_room = buffer_cache.sites(of, std::vector<char>(count, 1));
  return positions_below(count, [&](std::size_t s) {
    return !of.sites[s].places_itself && std::ranges::find(without_room, s) == without_room.end();
  });
}

plans::plan_file plan_without_entries(const analysis_input& of, std::size_t program,
                                      const binding& threads) {
  const profile::program& which = of.program(program);
  plans::plan_file plan;
  plan.program = which.name;
  plan.build_id = which.build_id;
  plan.threads = nodes_of_threads(of, program, {}).size();
  plan.teams =
      bind::threads_of_teams(of.teams(program)) == plan.threads ? of.teams(program) : positions{};
  plan.nodes = of.machine.domains().size();
  plan.bind = threads.policy;
  plan.main_works = !which.has_runtime() && which.threads.size() > 1 && of.main_works(program);
  return plan;
}

plans::plan_file plan_of(const analysis& of, std::size_t program, const decision& made) {
  plans::plan_file plan = plan_without_entries(of, program, made.threads);
  plan.objects = entries_for(of, program, made.objects);
  plan.libraries = libraries_of(plan.objects, of.program(program));
  return plan;
}

proposal propose(const analysis& of, std::size_t program) {
  const binding threads = choose_binding(of, program);
  decision best = decide(of, placeable_sites(of), threads);
  const run_times before = times_before(of);
  run_times after = times_after(of, best);
  proposal made;
  made.program = program;
  made.worth = worth_of_decision(of, best);
  made.remarks = remarks_on(of, best);
  if (made.worth.how != gain::kind::unavailable) { // otherwise the gain in use is unknown
    made.pays_from = pays_from(before, after);
  }
  made.refused = refusal_of(made.worth, best.objects.empty() ? std::nullopt : made.pays_from);
  if (!made.refused.empty()) {
    best = bound_alone(of, threads);
    after = times_after(of, best);
    made.pays_from.reset();
  }
  made.plan = plan_of(of, program, best);
  made.rebinds = !best.threads.homes.empty();
  made.before = outcome_of(of, before);
  made.after = outcome_of(of, after);
  return made;
}

run_times times_before(const analysis& of) {
  return times_of(of, {flow_under(of, {}, of.swept)}, {initialisation_under(of, {})});
}

run_times times_after(const analysis& of, const decision& made) {
  const positions& homes = made.threads.homes;
  const std::vector<candidate> placed = candidates_by_item(of, made.objects);
  std::vector<model::page_map> maps;
  maps.reserve(placed.size());
  page_maps where;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    maps.push_back(map_under(of, of.items[i], placed[i], homes));
    where.push_back(&maps.back());
  }
  return times_of(of, {flow_under(of, where, of.swept, homes), homes},
                  {initialisation_under(of, where), homes});
}

outcome outcome_of(const analysis_input& of, const run_times& what) {
  outcome made;
  made.binds = binds_in(of, what.use);
  if (of.assumed) {
    return made;
  }
  const auto if_known = [&](double seconds) {
    return of.absolute ? std::optional(seconds) : std::nullopt;
  };
  if (what.use.bytes > 0) {
    made.remote = what.use.remote;
    made.seconds = if_known(what.use.seconds);
  }
  if (what.begun.bytes > 0) {
    const double bytes = what.use.bytes + what.begun.bytes;
    made.whole_remote =
        (what.use.remote * what.use.bytes + what.begun.remote * what.begun.bytes) / bytes;
    made.whole_seconds = if_known(what.use.seconds + what.begun.seconds);
  }
  return made;
}

std::optional<double> pays_from(const run_times& before, const run_times& after) {
  const double cost = after.begun.seconds - before.begun.seconds;
  const double gained = before.use.seconds - after.use.seconds;
  if (cost <= gained || cost <= 0) {
    return std::nullopt;
  }
  return gained > 0 ? cost / gained : std::numeric_limits<double>::infinity();
}

} // namespace nodewise::advise
