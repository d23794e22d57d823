// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Some arrays of a loop were initialised in parallel; these were not.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

// Arrays of one loop differ in size by at most this factor.
constexpr double alike = 4;

/// Whether an array is local because its users touched it.
bool is_cared_for(const item& what, const shape& how) {
  return what.units > 0 && !how.touched_by_one() && how.touching_nodes > 1 && !how.anyones() &&
         how.using_nodes > 1 && how.remote < some_remote;
}

/// Sites with such an array, of about the size of those of this site.
positions cared_for(const analysis& of, std::size_t like) {
  const auto size_of = [&](std::size_t i) { return static_cast<double>(of.items[i].what->bytes); };
  const double bytes = size_of(of.sites[like].items.front());
  return positions_where(of.sites, [&](const site& each) {
    return std::ranges::any_of(each.items, [&](std::size_t i) {
      return is_cared_for(of.items[i], of.shapes[i]) && size_of(i) <= alike * bytes &&
             bytes <= alike * size_of(i);
    });
  });
}

positions partly_parallel_sites(const analysis& of, const std::vector<char>& free) {
  if (of.assumed) {
    return {};
  }
  positions found = sites_where(of, free, is_serial);
  std::erase_if(found, [&](std::size_t s) { return cared_for(of, s).empty(); });
  return found;
}

suspicion describe_partly_parallel(const analysis& of, const positions& sites) {
  const std::string others = names_of(of, cared_for(of, sites.front()));
  return usual(
      of, sites,
      fmt::format("initialised by one thread, while {} was initialised in parallel", others),
      {.last = fmt::format("{}: touched in parallel, and local to its users", others)});
}

} // namespace

const detector partly_parallel(pattern::partly_parallel, needs_faults | needs_uses | needs_objects,
                               partly_parallel_sites, describe_partly_parallel, touch_in_parallel);

} // namespace nodewise::advise
