// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Builds domains as LIKWID 5.2 does (affinity.c, topology_hwloc.c, numa_hwloc.c).
#include "spec/likwid_domains.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace nodewise::spec {

namespace {

/// A processor and its number among the hardware threads of its core, allowed or not.
struct hardware_thread {
  cpu_id cpu{};
  int rank = 0;
};

std::string tag_of(char letter, std::size_t number) {
  return letter == 'N' ? "N" : fmt::format("{}{}", letter, number);
}

} // namespace

std::vector<cpu_id> likwid_domain::core_by_core() const {
  std::vector<cpu_id> all;
  for (const std::vector<cpu_id>& core : cores) {
    all.insert(all.end(), core.begin(), core.end());
  }
  return all;
}

bool is_likwid_domain(std::string_view name) noexcept {
  constexpr std::string_view letters = "SDCM";
  return name == "N" || (!name.empty() && letters.find(name[0]) != std::string_view::npos &&
                         name.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

std::vector<likwid_domain> likwid_domains::all(char letter) const {
  std::vector<likwid_domain> made;
  for (const cpu_set& each : sets_of(letter)) {
    made.push_back(make(tag_of(letter, made.size()), each));
  }
  return made;
}

likwid_domain likwid_domains::one(char letter, std::size_t number) const {
  return make(tag_of(letter, number), sets_of(letter)[number]);
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
    for (const node_part& each : machine_.nodes()) {
      sets.push_back(each.is->cpus);
    }
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

likwid_domain likwid_domains::make(std::string tag, const cpu_set& cpus) const {
  likwid_domain made;
  made.tag = std::move(tag);
  const cpu_set usable = cpus & where_.allowed_cpus();
  std::vector<hardware_thread> threads;
  for (const cpu_set& core : cores_) {
    std::vector<cpu_id> here;
    int rank = 0;
    for (const cpu_id cpu : core) {
      if (usable.contains(cpu)) {
        here.push_back(cpu);
        threads.push_back({cpu, rank});
      }
      ++rank;
    }
    if (!here.empty()) {
      made.cores.push_back(std::move(here));
    }
  }
  for (int rank = 0; made.indexed.size() < threads.size(); ++rank) {
    for (const hardware_thread& each : threads) {
      if (each.rank == rank) {
        made.indexed.push_back(each.cpu);
      }
    }
  }
  return made;
}

} // namespace nodewise::spec
