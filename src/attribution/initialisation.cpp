// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/initialisation.hpp"

#include "attribution/page_runs.hpp"

namespace nodewise::attribution {

initialisation::initialisation(const traffic::counts& from, traffic::process_key program,
                               const std::vector<profile::thread_index>& threads) {
  // Memory outside all objects is counted by address.
  const auto page_of = [&](const auto& run) {
    return run.object ? run.first : run.first / from.page_bytes;
  };
  constexpr std::size_t init = traffic::index_of(traffic::phase::initialisation);
  for (const traffic::page_run& run : from.pages) {
    const std::uint64_t lines = run.local[init] + run.remote[init];
    if (run.pid != program || lines == 0) {
      continue;
    }
    auto& pages = pages_[run.object];
    for (std::uint64_t k = 0; k < run.count; ++k) {
      pages[page_of(run) + k].lines += static_cast<double>(lines) / static_cast<double>(run.count);
    }
  }
  std::map<std::optional<traffic::object_id>, std::map<std::uint64_t, page>> known;
  for (const traffic::touched_run& run : from.touched) {
    const auto counted = pages_.find(run.object);
    if (run.pid != program || run.thread >= threads.size() || counted == pages_.end()) {
      continue;
    }
    for (std::uint64_t k = 0; k < run.count; ++k) {
      const auto found = counted->second.find(page_of(run) + k);
      if (found != counted->second.end()) {
        known[run.object][found->first] = {threads[run.thread], found->second.lines};
      }
    }
  }
  pages_ = std::move(known);
}

std::vector<profile::use_run> initialisation::of(std::optional<traffic::object_id> object,
                                                 std::uint64_t first, std::uint64_t pages) const {
  std::vector<profile::use_run> made;
  const auto found = pages_.find(object);
  if (found == pages_.end()) {
    return made;
  }
  for (auto at = found->second.lower_bound(first);
       at != found->second.end() && at->first - first < pages; ++at) {
    append(made, {at->first - first, 1, {{at->second.by, at->second.lines}}});
  }
  return made;
}

} // namespace nodewise::attribution
