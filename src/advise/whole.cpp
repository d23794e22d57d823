// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/whole.hpp"

#include <limits>
#include <vector>

#include "advise/candidates.hpp"

namespace nodewise::advise {

namespace {

/// Instructions were counted only in the phase of use, so initialisation is priced by its traffic.
run_times times_of(const analysis_input& of, const course& use, const course& initialisation) {
  return {predict(of, use), predict(of, of.costs(), initialisation, model::unlimited)};
}

} // namespace

run_times times_before(const analysis& of) {
  const analysis_input& all = of.input;
  return times_of(all, {flow_under(all, {}, of.swept)}, {initialisation_under(all, {})});
}

run_times times_after(const analysis& of, const decision& made) {
  const analysis_input& all = of.input;
  const positions& homes = made.threads.homes;
  const std::vector<candidate> placed = candidates_by_item(all, made.objects);
  std::vector<model::page_map> maps;
  maps.reserve(placed.size());
  page_maps where;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    maps.push_back(map_under(all, all.items()[i], placed[i], homes));
    where.push_back(&maps.back());
  }
  return times_of(all, {flow_under(all, where, of.swept, homes), homes},
                  {initialisation_under(all, where), homes});
}

outcome outcome_of(const analysis_input& of, const run_times& what) {
  outcome made;
  made.binds = binds_in(of, what.use);
  if (of.assumed()) {
    return made;
  }
  if (what.use.bytes > 0) {
    made.remote = what.use.remote;
    if (of.absolute()) {
      made.seconds = what.use.seconds;
    }
  }
  if (what.begun.bytes > 0) {
    const double bytes = what.use.bytes + what.begun.bytes;
    made.whole_remote =
        (what.use.remote * what.use.bytes + what.begun.remote * what.begun.bytes) / bytes;
    if (of.absolute()) {
      made.whole_seconds = what.whole_seconds();
    }
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
