// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Some arrays of a loop were initialised in parallel; these were not.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

// Arrays of one loop differ in size by at most this factor.
constexpr double alike = 4;

/// Whether an array is local because its users touched it.
bool is_cared_for(const item& what, const shape& how) {
  return what.units > 0 && !how.touched_by_one() && how.touching_nodes > 1 && !how.anyones() &&
         how.using_nodes > 1 && how.remote < some_remote;
}

/// Sites with such an array, of about this size.
std::vector<std::size_t> cared_for(const analysis& of, double bytes) {
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < of.input.sites().size(); ++s) {
    const bool has = std::ranges::any_of(of.input.sites()[s].items, [&](std::size_t i) {
      const item& one = of.input.items()[i];
      const auto size = static_cast<double>(one.what->bytes);
      return is_cared_for(one, of.shapes[i]) && size <= alike * bytes && bytes <= alike * size;
    });
    if (has) {
      found.push_back(s);
    }
  }
  return found;
}

double size_of(const analysis& of, std::size_t site) {
  return static_cast<double>(of.input.items()[of.input.sites()[site].items.front()].what->bytes);
}

std::vector<std::size_t> partly_parallel_sites(const analysis& of, const std::vector<char>& free) {
  std::vector<std::size_t> found;
  if (of.input.assumed()) {
    return found;
  }
  for (const std::size_t s : sites_where(of, free, is_serial)) {
    if (!cared_for(of, size_of(of, s)).empty()) {
      found.push_back(s);
    }
  }
  return found;
}

suspicion describe_partly_parallel(const analysis& of, const std::vector<std::size_t>& sites) {
  const std::string others = names_of(of.input, cared_for(of, size_of(of, sites.front())));
  suspicion made{.title = names_of(of.input, sites) + ": initialised by one thread, while " +
                          others + " was initialised in parallel",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.evidence.push_back(others + ": touched in parallel, and near to its users");
  return made;
}

} // namespace

const detector partly_parallel{.what = pattern::partly_parallel,
                               .needs = needs_faults | needs_uses | needs_objects,
                               .sites = partly_parallel_sites,
                               .describe = describe_partly_parallel};

} // namespace nodewise::advise
