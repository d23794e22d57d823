// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/candidate_ranks.hpp"

#include <algorithm>
#include <string>

#include "tune/candidate_memory.hpp"

namespace nodewise::tune {

namespace {

/// Parts of the machine that a rank may get, of which there are several and no two the same.
std::vector<std::string> rank_parts(const topology& on) {
  std::vector<std::string> parts;
  const std::size_t nodes = on.domains().size();
  const std::size_t sockets = on.places(place_kind::packages).size();
  if (nodes > 1) {
    parts.emplace_back("node");
  }
  if (sockets > 1 && sockets != nodes) {
    parts.emplace_back("socket");
  }
  if (on.places(place_kind::cores).size() > std::max(nodes, sockets)) {
    parts.emplace_back("core");
  }
  return parts;
}

} // namespace

std::vector<setting> rank_settings(const topology& on, const std::vector<axis>& over) {
  const auto has = [&](axis which) { return std::ranges::find(over, which) != over.end(); };
  const std::string interleave =
      has(axis::memory) ? memory_option(memory_way::interleave, on) : std::string();
  std::vector<setting> list;
  if (has(axis::bind)) {
    for (const std::string& part : rank_parts(on)) {
      list.push_back({{"--ranks-per", part, "--bind", "close"}});
    }
  }
  if (!interleave.empty()) {
    if (!list.empty()) {
      setting both = list.front();
      both.options.insert(both.options.end(), {"--memory", interleave});
      list.push_back(std::move(both));
    }
    list.push_back({{"--memory", interleave}});
  }
  return list;
}

} // namespace nodewise::tune
