// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Cached files filled a node: pages that were touched there went elsewhere.
#include "advise/patterns.hpp"

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

positions buffer_cache_sites(const analysis& of, const std::vector<char>& free) {
  const overflow found = overflow_of(of, free);
  const bool by_cache = found.state != nullptr && (was_full(found) || became_full(found));
  return by_cache ? found.sites : positions();
}

suspicion describe_buffer_cache(const analysis& of, const positions& sites) {
  const overflow found = overflow_of(of);
  const node_id node = of.number_of(found.memory);
  const bool before = was_full(found);
  const std::uint64_t free = before ? found.state->free_bytes : found.state->fullest->free_bytes;
  const std::uint64_t cache = before ? found.state->cache_bytes : found.state->fullest->cache_bytes;
  return {.title =
              fmt::format("cached files filled node {}: pages of {} that were touched there went "
                          "to other nodes",
                          node, names_of(of, sites)),
          .evidence = {fmt::format("{} of {} touched on node {} are on other nodes",
                                   bytes_text(found.missed_bytes), bytes_text(found.wanted_bytes),
                                   node),
                       fmt::format("node {} had {} free and {} of cached files {}", node,
                                   bytes_text(static_cast<double>(free)),
                                   bytes_text(static_cast<double>(cache)),
                                   before ? "when the program began" : "while the program ran")},
          .remarks = {"runs differ with the files that were read or written before them",
                      "no placement makes room on a full node: the gain is for dropping the files"},
          .after = had_there_been_room(of)};
}

} // namespace

const detector
    buffer_cache(pattern::buffer_cache, needs_faults | needs_objects | needs_memory,
                 buffer_cache_sites, describe_buffer_cache, command,
                 {"drop cached files before the run, or let the program that writes them do so",
                  "sync; echo 1 > /proc/sys/vm/drop_caches   # as root\n"
                  "posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); // after fsync(fd)\n"},
                 scope::objects);

} // namespace nodewise::advise
