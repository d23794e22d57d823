// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/alternatives.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "advise/jobs.hpp"
#include "advise/planner.hpp"
#include "advise/propose.hpp"
#include "advise/use_map.hpp"
#include "advise/whole.hpp"

namespace nodewise::advise {

namespace {

// `run --memory blocked` also skips smaller arrays.
constexpr std::uint64_t least_block = 1 << 20;
constexpr std::uint64_t least_interleaved = 64 << 10;

alternative all_arrays(const analysis& of, std::size_t program, const binding& threads,
                       placements::kind how, std::uint64_t least_bytes) {
  const analysis_input& all = of.input;
  decision made;
  made.threads = threads;
  for (std::size_t s = 0; s < all.sites().size(); ++s) {
    assignment some{s, {}, {{how}}};
    for (const std::size_t i : all.sites()[s].items) {
      const bool can = all.sites()[s].placeable && !all.sites()[s].places_itself;
      const bool fits = all.items()[i].what->bytes >= least_bytes;
      if (can && fits && all.sites()[s].program == program) {
        some.items.push_back(i);
      }
    }
    if (!some.items.empty()) {
      made.objects.push_back(std::move(some));
    }
  }
  plans::entry any;
  any.which.least_bytes = least_bytes;
  any.where.how = how;
  any.why = "no placement by array was found to be better";
  alternative one{
      placements::text_of(any.where), plan_without_entries(all, program, threads), {}, false};
  one.plan.objects = {std::move(any)};
  one.expected = outcome_of(all, times_after(of, made));
  return one;
}

std::size_t runs_of(const std::vector<assignment>& all) {
  std::size_t sum = 0;
  for (const assignment& each : all) {
    sum += each.how.where.owners.size();
  }
  return sum;
}

/// For arrays whose pages any thread seems to use: each page goes to its main user. Owners may be
/// random and still stay the same. One run looks the same by chance; a second run shows the
/// difference. The arrays with most traffic come first, as far as a plan has room.
decision page_by_page(const analysis& of, const binding& threads) {
  // The agent has room for this many changes of node; each becomes a separate mapping.
  constexpr std::size_t most_runs = 28000;
  const analysis_input& all = of.input;
  positions sites = placeable_sites(of);
  decision made = decide(of, sites, threads);
  std::ranges::sort(sites, std::greater(), [&](std::size_t s) { return all.sites()[s].bytes; });
  bool any = false;
  for (const std::size_t s : sites) {
    const positions& items = all.sites()[s].items;
    if (!all.sites()[s].placeable || items.size() != 1 || !of.shapes[items.front()].anyones()) {
      continue;
    }
    auto parts = use_map(all, all.items()[items.front()], made.threads.homes).page_by_page();
    std::vector<assignment> others = made.objects;
    std::erase_if(others, [&](const assignment& each) { return each.site == s; });
    if (parts.size() >= 2 && runs_of(others) + parts.size() <= most_runs) {
      others.push_back({s, items, {{placements::kind::map, std::move(parts)}}});
      made.objects = std::move(others);
      any = true;
    }
  }
  return any ? made : decision{};
}

} // namespace

std::vector<alternative> alternatives(const profile::profile& of, const topology& on,
                                      std::size_t program) {
  const analysis_input what(of, on, job_of(of, program));
  const analysis seen(what);
  const binding threads = choose_binding(seen, program);
  const decision bold = decide_boldly(seen, placeable_sites(seen), threads);
  std::vector<alternative> made = {
      all_arrays(seen, program, threads, placements::kind::interleave, least_interleaved),
      all_arrays(seen, program, threads, placements::kind::blocked, least_block),
      {"placement by array", plan_of(seen, program, bold),
       outcome_of(what, times_after(seen, bold)), true}};
  if (const decision pages = page_by_page(seen, threads); !pages.objects.empty()) {
    made.push_back({"placement by page", plan_of(seen, program, pages),
                    outcome_of(what, times_after(seen, pages)), true});
  }
  return made;
}

outcome outcome_of_run(const profile::profile& of, const topology& on, std::size_t program) {
  const analysis_input what(of, on, job_of(of, program));
  return outcome_of(what, times_before(analysis(what)));
}

} // namespace nodewise::advise
