// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// push_back and realloc: enlarged step by step, so placed for another size than it has.
#include "advise/pattern_tools.hpp"
#include <array>
#include <string_view>

namespace nodewise::advise {

namespace {

// More than a fifth of its pages are not resident: it is larger than its contents.
constexpr double nearly_full = 0.8;

/// Whether the site's objects grew: each was freed once a larger one existed.
bool grew(const analysis_input& of, const site& which) {
  std::size_t steps = 0;
  for (std::size_t k = 1; k < which.items.size(); ++k) {
    const profile::object& before = *of.items()[which.items[k - 1]].what;
    const profile::object& after = *of.items()[which.items[k]].what;
    steps += after.bytes > before.bytes && before.died_s >= after.born_s && !before.live_at_end;
  }
  return which.items.size() > 2 && steps + 1 == which.items.size();
}

bool is_enlarged(const profile::object& what) {
  constexpr std::array<std::string_view, 6> names = {
      "_M_realloc", "push_back", "emplace_back", "_M_fill_insert", "_M_default_append", "realloc"};
  return std::ranges::any_of(what.made_at, [&](const profile::frame& frame) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return frame.function.find(name) != std::string::npos;
    });
  });
}

std::vector<std::size_t> growth_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [&](const item& what, const shape& how) {
    const auto pages = static_cast<double>(what.what->pages);
    const bool spare = static_cast<double>(what.what->resident) < nearly_full * pages;
    return what.units > 0 && how.using_nodes > 1 && how.remote >= some_remote && !how.anyones() &&
           (grew(of.input, of.input.sites()[what.site]) || (spare && is_enlarged(*what.what)));
  });
}

suspicion describe_growth(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) +
                          ": enlarged step by step, so that its place was decided for another size",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  double pages = 0;
  double resident = 0;
  for (const std::size_t s : sites) {
    const profile::object& last = *of.input.items()[of.input.sites()[s].items.back()].what;
    pages += static_cast<double>(last.pages);
    resident += static_cast<double>(last.resident);
  }
  made.evidence.push_back(percent(pages > 0 ? resident / pages : 0) +
                          " of the pages allocated were ever used");
  return made;
}

} // namespace

const detector growth{.what = pattern::growth,
                      .needs = needs_uses | needs_objects,
                      .sites = growth_sites,
                      .describe = describe_growth};

} // namespace nodewise::advise
