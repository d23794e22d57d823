// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/advise.hpp"
#include "advise/propose.hpp"

namespace nodewise::advise {

namespace {

// `run --memory blocked` also skips smaller arrays.
constexpr std::uint64_t least_block = 1 << 20;
constexpr std::uint64_t least_interleaved = 64 << 10;

alternative all_arrays(const analysis& of, std::size_t program, const binding& threads,
                       placements::kind how, std::uint64_t least_bytes) {
  decision made;
  made.threads = threads;
  for (std::size_t s = 0; s < of.sites.size(); ++s) {
    const site& each = of.sites[s];
    assignment some{s, each.items, {{how}}};
    std::erase_if(some.items, [&](auto i) { return of.items[i].what->bytes < least_bytes; });
    if (each.placeable && !each.places_itself && each.program == program && !some.items.empty()) {
      made.objects.push_back(std::move(some));
    }
  }
  plans::entry any;
  any.which.least_bytes = least_bytes;
  any.where.how = how;
  any.why = "no placement by array was found to be better";
  alternative one{
      placements::text_of(any.where), plan_without_entries(of, program, threads), {}, false};
  one.plan.objects = {std::move(any)};
  one.expected = outcome_of(of, times_after(of, made));
  return one;
}

/// For arrays whose pages any thread seems to use: each page goes to its main user. Owners may be
/// random and still stay the same. One run looks the same by chance; a second run shows the
/// difference. The arrays with most traffic come first, as far as a plan has room.
decision page_by_page(const analysis& of, const binding& threads) {
  // The agent has room for this many changes of node; each becomes a separate mapping.
  constexpr double most_runs = 28000;
  positions sites = placeable_sites(of);
  decision made = decide(of, sites, threads);
  std::ranges::sort(sites, std::greater(), [&](std::size_t s) { return of.sites[s].bytes; });
  bool any = false;
  for (const std::size_t s : sites) {
    const positions& items = of.sites[s].items;
    if (!of.sites[s].placeable || items.size() != 1 || !of.shapes[items.front()].anyones()) {
      continue;
    }
    auto parts = use_map(of, of.items[items.front()], made.threads.homes).page_by_page();
    std::vector<assignment> others = made.objects;
    std::erase_if(others, [&](const assignment& each) { return each.site == s; });
    const auto runs = [](const assignment& each) { return each.how.where.owners.size(); };
    if (parts.size() >= 2 &&
        sum_over(others, runs) + static_cast<double>(parts.size()) <= most_runs) {
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
  const analysis what({of, on, job_of(of, program)});
  const binding threads = choose_binding(what, program);
  const decision bold = decide_boldly(what, placeable_sites(what), threads);
  std::vector<alternative> made = {
      all_arrays(what, program, threads, placements::kind::interleave, least_interleaved),
      all_arrays(what, program, threads, placements::kind::blocked, least_block),
      {"placement by array", plan_of(what, program, bold),
       outcome_of(what, times_after(what, bold)), true}};
  if (const decision pages = page_by_page(what, threads); !pages.objects.empty()) {
    made.push_back({"placement by page", plan_of(what, program, pages),
                    outcome_of(what, times_after(what, pages)), true});
  }
  return made;
}

outcome outcome_of_run(const profile::profile& of, const topology& on, std::size_t program) {
  const analysis what({of, on, job_of(of, program)});
  return outcome_of(what, times_before(what));
}

std::vector<std::optional<double>> remote_waits_s(const profile::profile& of, const topology& on) {
  std::vector<std::optional<double>> waits(of.programs.size());
  for (positions& programs : jobs_of(of)) {
    const analysis what({of, on, std::move(programs)});
    const course now{flow_under(what, {}, what.swept)};
    const prediction before = predict(what, now);
    if (what.assumed || !what.absolute || !(before.bytes > 0)) {
      continue;
    }
    const prediction near = predict(what, course{all_local(what, now.traffic)});
    for (const std::size_t each : what.programs) {
      waits[each] = std::max(0.0, before.seconds - near.seconds);
    }
  }
  return waits;
}

} // namespace nodewise::advise
