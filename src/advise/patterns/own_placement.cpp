// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The program itself places an array with the library, but not near the threads that use it.
#include "advise/patterns.hpp"
#include "advise/planner.hpp"

namespace nodewise::advise {

namespace {

positions own_placement_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [&](const item& what, const shape& how) {
    return of.sites[what.site].places_itself && what.units > 0 && how.using_nodes > 1 &&
           how.remote >= some_remote && !how.anyones();
  });
}

suspicion describe_own_placement(const analysis& of, const positions& sites) {
  const decision placed = decide(of, sites, {});
  return {.title =
              fmt::format("{}: the program places it itself, away from the threads that use it",
                          names_of(of, sites)),
          .evidence = usual_evidence(of, sites),
          .remarks = {"a plan does not change what the program places itself"},
          .after = placed.after,
          .worth = worth_of_placing(of, placed.before, placed.after, samples_of(of, sites))};
}

std::vector<cure> own_placement_cures(const subject& of, const remedy& with) {
  return {of.takes_cpp() ? region(of, with.what, "nodewise::blocked(team.owners())")
                         : cure{"Nodewise", with.what, ""}};
}

} // namespace

const detector own_placement(pattern::own_placement, needs_uses | needs_objects,
                             own_placement_sites, describe_own_placement, own_placement_cures,
                             {"place it in blocks, by the threads of the loop that uses it"},
                             scope::objects);

} // namespace nodewise::advise
