// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Builds domains as LIKWID 5.2 does (affinity.c, topology_hwloc.c, numa_hwloc.c).
#include "spec/likwid_domains.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/core.h>

namespace nodewise::spec {

namespace {

std::vector<cpu_id> flattened(const std::vector<std::vector<cpu_id>>& groups) {
  std::vector<cpu_id> all;
  std::ranges::copy(groups | std::views::join, std::back_inserter(all));
  return all;
}

} // namespace

std::vector<cpu_id> likwid_domain::core_by_core() const {
  return flattened(cores);
}

bool is_likwid_domain(std::string_view name) noexcept {
  constexpr std::string_view letters = "SDCM";
  return name == "N" || (!name.empty() && letters.find(name[0]) != std::string_view::npos &&
                         name.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

std::vector<cpu_set> likwid_domains::sets_of(char letter) const {
  std::vector<cpu_set> sets;
  switch (letter) {
  case 'S':
  case 'D': // the machine value has no dies; LIKWID uses packages on machines without dies
    return packages();
  case 'C':
    return cache_groups();
  case 'M':
    for (const node_part& each : machine_.nodes()) {
      sets.push_back(each.is->cpus);
    }
    return sets;
  default:
    return {where_.machine().cpus()};
  }
}

/// Ordered by their first processors, not by hwloc's numbers.
std::vector<cpu_set> likwid_domains::packages() const {
  std::vector<cpu_set> sets = machine_.packages();
  if (sets.empty()) { // some architectures have none: LIKWID uses nodes instead
    sets = sets_of('M');
  }
  std::erase_if(sets, [](const cpu_set& each) { return each.empty(); });
  std::ranges::sort(sets, {}, &cpu_set::first);
  return sets;
}

/// Groups of processors that share the last cache; a cache that spans several nodes is split by
/// node.
std::vector<cpu_set> likwid_domains::cache_groups() const {
  std::vector<cpu_set> sets;
  const int last = machine_.last_cache_level();
  if (last == 0) {
    return sets;
  }
  for (const cpu_set& shared : machine_.caches_of(last, false)) {
    cpu_set rest = shared;
    for (const node_part& each : machine_.nodes()) {
      if (cpu_set here = rest & each.is->cpus; !here.empty()) {
        rest = std::move(rest) - here;
        sets.push_back(std::move(here));
      }
    }
    if (!rest.empty()) {
      sets.push_back(std::move(rest));
    }
  }
  return sets;
}

likwid_domain likwid_domains::make(char letter, std::size_t number, const cpu_set& cpus) const {
  likwid_domain made;
  made.tag = letter == 'N' ? "N" : fmt::format("{}{}", letter, number);
  const cpu_set usable = cpus & where_.allowed_cpus();
  std::vector<std::vector<cpu_id>>
      by_rank; // the first hardware threads of all cores, the second...
  for (const cpu_set& core : cores_) {
    std::vector<cpu_id> here;
    by_rank.resize(std::max(by_rank.size(), core.size()));
    std::size_t rank = 0; // among the threads of its core, allowed or not
    for (const cpu_id cpu : core) {
      if (usable.contains(cpu)) {
        here.push_back(cpu);
        by_rank[rank].push_back(cpu);
      }
      ++rank;
    }
    if (!here.empty()) {
      made.cores.push_back(std::move(here));
    }
  }
  made.indexed = flattened(by_rank);
  return made;
}

} // namespace nodewise::spec
