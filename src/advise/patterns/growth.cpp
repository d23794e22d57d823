// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// push_back and realloc: enlarged step by step, so placed for another size than it has.
#include "advise/patterns.hpp"
#include <array>

namespace nodewise::advise {

namespace {

// More than a fifth of its pages are not resident: it is larger than its contents.
constexpr double nearly_full = 0.8;

/// Whether the site's objects grew: each was freed once a larger one existed.
bool grew(const analysis_input& of, const site& which) {
  const auto is_no_step = [&](std::size_t earlier, std::size_t later) {
    const profile::object& before = *of.items[earlier].what;
    const profile::object& after = *of.items[later].what;
    return after.bytes <= before.bytes || before.freed_s < after.allocated_s || before.live_at_end;
  };
  return which.items.size() > 2 &&
         std::ranges::adjacent_find(which.items, is_no_step) == which.items.end();
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

positions growth_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [&](const item& what, const shape& how) {
    const auto pages = static_cast<double>(what.what->pages);
    const bool spare = static_cast<double>(what.what->resident) < nearly_full * pages;
    return what.units > 0 && how.using_nodes > 1 && how.remote >= some_remote && !how.anyones() &&
           (grew(of, of.sites[what.site]) || (spare && is_enlarged(*what.what)));
  });
}

suspicion describe_growth(const analysis& of, const positions& sites) {
  const auto last = [&](std::size_t s) -> const profile::object& {
    return *of.items[of.sites[s].items.back()].what;
  };
  const double pages = sum_over(sites, [&](std::size_t s) { return last(s).pages; });
  const double resident = sum_over(sites, [&](std::size_t s) { return last(s).resident; });
  return usual(of, sites, "enlarged step by step, so that it was placed for another size",
               {.last = fmt::format("{} of the allocated pages were ever used",
                                    percent(pages > 0 ? resident / pages : 0))});
}

std::vector<cure> growth_cures(const subject& of, const remedy& /*with*/) {
  return {{"C++", "reserve the final size, then touch it in parallel, before filling it",
           of.array + ".reserve(n);\n"}};
}

} // namespace

const detector growth(pattern::growth, needs_uses | needs_objects, growth_sites, describe_growth,
                      growth_cures);

} // namespace nodewise::advise
