// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/patterns.hpp"

#include <algorithm>
#include <tuple>

namespace nodewise::advise {

const std::array<detector, patterns>& detectors() {
#define NODEWISE_PATTERN(name) name,
  static const std::array<detector, patterns> all = {NODEWISE_PATTERNS(NODEWISE_PATTERN)};
#undef NODEWISE_PATTERN
  return all;
}

std::string missing_evidence(const analysis_input& of, unsigned needs) {
  const profile::evidence& seen = of.profile().seen;
  const bool touches =
      std::ranges::any_of(of.items(), [](const item& each) { return !each.what->touched.empty(); });
  const bool threads =
      std::ranges::any_of(of.workers(), [](const worker& each) { return each.home != nowhere; });
  const std::tuple<unsigned, bool, const char*> all[] = {
      {needs_faults, seen.faults || touches, "first touches were not observed"},
      {needs_uses, !of.assumed(), "uses of memory were not observed"},
      {needs_objects, !of.items().empty(), "no object of the program was observed"},
      {needs_memory, !of.profile().memory.empty(), "the free memory of nodes was not observed"},
      {needs_counts, seen.counts, "writes to cache lines are counted only in the lab"},
      {needs_threads, threads, "the nodes of threads were not observed"},
  };
  for (const auto& [need, is_there, missing] : all) {
    if ((needs & need) != 0 && !is_there) {
      return missing;
    }
  }
  return "";
}

} // namespace nodewise::advise
