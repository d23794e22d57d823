// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "placement/placement.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "base/joined.hpp"
#include "base/size_text.hpp"

namespace nodewise::placements {

std::vector<owner_run> in_turn(const node_set& nodes) {
  std::vector<owner_run> runs;
  for (const node_id node : nodes) {
    runs.push_back({1, static_cast<std::size_t>(to_int(node))});
  }
  return runs;
}

node_set nodes_of(const std::vector<owner_run>& runs) {
  node_set nodes;
  for (const owner_run& run : runs) {
    nodes.insert(node_of(run));
  }
  return nodes;
}

std::vector<node_id> owners_of(const std::vector<owner_run>& runs) {
  std::vector<node_id> nodes;
  for (const owner_run& run : runs) {
    nodes.insert(nodes.end(), run.parts, node_of(run));
  }
  return nodes;
}

bool is_by_measurement(const placement& what) noexcept {
  return what.how == kind::weighted &&
         std::ranges::all_of(what.owners, [](const owner_run& run) { return run.parts == 0; });
}

std::string text_of(const placement& what) {
  const std::string word = word_of(what.how);
  switch (what.how) {
  case kind::none:
  case kind::local:
  case kind::map:
    return word;
  case kind::blocked:
    return what.granule_bytes == 0
               ? word
               : fmt::format("{}:{}", rows_word, exact_size_text(what.granule_bytes));
  case kind::thread:
    return fmt::format("{}:{}", word, what.owners.front().owner);
  case kind::cyclic:
    return what.granule_bytes == 0
               ? word
               : fmt::format("{}:{}", word, exact_size_text(what.granule_bytes));
  case kind::bind:
  case kind::prefer:
  case kind::interleave:
  case kind::weighted:
    break;
  }
  if (what.owners.empty()) {
    return word;
  }
  const auto weight_text = [](const owner_run& run) {
    return fmt::format("{}={}", run.owner, run.parts);
  };
  return fmt::format("{}:{}", word,
                     what.how == kind::weighted ? joined(what.owners, ",", weight_text)
                                                : nodes_of(what.owners).to_string());
}

namespace {

/// "0*128", an owner and its parts; "0" for one part.
std::string run_text(const owner_run& run) {
  return run.parts == 1 ? std::to_string(run.owner) : fmt::format("{}*{}", run.owner, run.parts);
}

} // namespace

std::string map_text(const std::vector<owner_run>& parts) {
  return joined(parts, " ", run_text);
}

std::string wire_text(const std::vector<owner_run>& runs) {
  return joined(runs, ",", run_text);
}

std::string wire_text(const placement& what) {
  const std::string word = word_of(what.how);
  switch (what.how) {
  case kind::none:
  case kind::local:
    return word;
  case kind::blocked:
    return what.granule_bytes == 0 ? word : fmt::format("{}@{}", word, what.granule_bytes);
  case kind::bind:
  case kind::prefer:
  case kind::interleave:
    return fmt::format("{}@{}", word, joined(what.owners, ",", &owner_run::owner));
  case kind::map:
    return fmt::format("{}@{}", word, wire_text(what.owners));
  case kind::weighted: // single pages in turn
  case kind::cyclic:
    return fmt::format("{}@{}@{}", word_of(kind::cyclic), what.granule_bytes,
                       wire_text(what.owners));
  case kind::thread:
    return fmt::format("{}@{}", word_of(kind::prefer), what.owners.front().owner);
  }
  return word;
}

} // namespace nodewise::placements
