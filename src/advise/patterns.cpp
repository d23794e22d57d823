// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/patterns.hpp"

#include <algorithm>
#include <utility>

namespace nodewise::advise {

const std::array<detector, patterns>& detectors() {
  static const std::array<detector, patterns> all = {
      nameless,        own_placement,    buffer_cache,          larger_than_node,
      sparse_matrix,   small_chunks,     dynamic_schedule,      used_by_all,
      growth,          serial_file_read, dynamic_members,       constructor_touch,
      partly_parallel, static_arrays,    serial_initialisation, different_schedules,
      few_threads,     unpinned_threads, thread_stacks,         unbalanced_work,
      false_sharing};
  return all;
}

std::string missing_evidence(const analysis_input& of, unsigned needs) {
  const profile::evidence& seen = of.profile().seen;
  const auto some = [&](const auto& is) { return std::ranges::any_of(of.workers(), is); };
  const bool touches =
      std::ranges::any_of(of.items(), [](const item& each) { return !each.what->touched.empty(); });
  const bool threads = some([](const worker& each) { return each.home != nowhere; });
  const std::pair<unsigned, std::pair<bool, const char*>> asked[] = {
      {needs_faults, {seen.faults || touches, "who touched pages first was not observed"}},
      {needs_uses, {!of.assumed(), "who uses memory was not observed"}},
      {needs_objects, {!of.items().empty(), "no object of the program was observed"}},
      {needs_memory, {!of.profile().memory.empty(), "how full nodes were was not observed"}},
      {needs_counts, {seen.counts, "who writes which cache line is counted in the lab only"}},
      {needs_threads, {threads, "where threads run was not observed"}},
  };
  for (const auto& [need, answer] : asked) {
    if ((needs & need) != 0 && !answer.first) {
      return answer.second;
    }
  }
  return "";
}

} // namespace nodewise::advise
