// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Cached files filled a node: pages that were touched there went elsewhere.
#include "advise/pattern_tools.hpp"
#include "advise/patterns/overflow.hpp"

namespace nodewise::advise {

namespace {

bool is_full_of_files(double free, double wanted, double cached, double missed) {
  return free < wanted && cached >= missed / 2;
}

/// The node was full when the program began.
bool was_full(const overflow& found) {
  return is_full_of_files(static_cast<double>(found.state->free_bytes), found.wanted_bytes,
                          static_cast<double>(found.state->cache_bytes), found.missed_bytes);
}

/// The node became full later, by files that the program or others read or wrote: too little room
/// was left for the pages that missed it.
bool became_full(const overflow& found) {
  const auto& low = found.state->fullest;
  return low && is_full_of_files(static_cast<double>(low->free_bytes), found.missed_bytes,
                                 static_cast<double>(low->cache_bytes), found.missed_bytes);
}

std::vector<std::size_t> buffer_cache_sites(const analysis& of, const std::vector<char>& free) {
  const overflow found = overflow_of(of, free);
  const bool by_cache = found.state != nullptr && (was_full(found) || became_full(found));
  return by_cache ? found.sites : std::vector<std::size_t>();
}

suspicion describe_buffer_cache(const analysis& of, const std::vector<std::size_t>& sites) {
  const overflow found = overflow_of(of, std::vector<char>(of.input.sites().size(), 1));
  const std::string node = "node " + std::to_string(of.input.number_of(found.memory));
  const bool before = was_full(found);
  const std::uint64_t free = before ? found.state->free_bytes : found.state->fullest->free_bytes;
  const std::uint64_t cache = before ? found.state->cache_bytes : found.state->fullest->cache_bytes;
  suspicion made{
      .title = "cached files filled " + node + ": pages of " + names_of(of.input, sites) +
               " that were touched there went to other nodes",
      .evidence = {bytes_text(found.missed_bytes) + " of " + bytes_text(found.wanted_bytes) +
                       " touched on " + node + " are elsewhere",
                   node + " had " + bytes_text(static_cast<double>(free)) + " free and " +
                       bytes_text(static_cast<double>(cache)) + " of cached files " +
                       (before ? "when the program began" : "while the program ran")},
      .remarks = {"runs differ with what was read or written before them",
                  "no placement makes room on a full node: the gain is that of dropping the files"},
      .after = had_there_been_room(of)};
  return made;
}

} // namespace

const detector buffer_cache{.what = pattern::buffer_cache,
                            .needs = needs_faults | needs_objects | needs_memory,
                            .placement_cures = false,
                            .sites = buffer_cache_sites,
                            .describe = describe_buffer_cache};

} // namespace nodewise::advise
