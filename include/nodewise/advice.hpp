// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which distribution suits a loop, by the model of what memory costs (docs/model.md). What is told
// here is predicted, not measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nodewise/export.hpp>
#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

namespace nodewise::inline v0 {

/// Who works on a page.
enum class page_users {
  owner,  ///< one thread: equal contiguous blocks, as `schedule(static)` has them
  anyone, ///< whoever comes: dynamic schedules, tasks, random access
};

/// How the pages of an array are dealt out.
enum class arrangement {
  blocked,     ///< a contiguous part for each thread, on the thread's node
  interleaved, ///< pages in turn over all memory nodes
};

/// Which arrangement is the better one, and why.
struct arrangement_advice {
  arrangement best = arrangement::blocked;
  double gain = 1;    ///< predicted: how many times as fast as the other one, 1 or more
  node_set idle;      ///< memories that `blocked` leaves without work
  std::string reason; ///< a sentence
  std::vector<std::string> unknown; ///< what the machine does not say and how it was taken
};

/// For arrays that these threads, one a processor, work through as fast as memory allows. Of the
/// machine's parameters it reads `bandwidth`, `core_bandwidth`, `latency` and their like; without
/// any it knows only that a memory shared by more threads is slower. Hager and Wellein, problem
/// 8.3: interleave if the threads of a node can draw more than its memory gives and other memories
/// are idle. Throws `error` (usage) for no threads or a processor that is not allowed.
[[nodiscard]] NODEWISE_API arrangement_advice advise_arrangement(
    const topology& on, std::span<const cpu_id> threads, page_users users = page_users::owner);

/// Small whole numbers in the proportion of the nodes' memory bandwidths, within 2 % where numbers
/// up to 255 (the kernel's limit for weighted interleaving) allow: for `weighted_blocks` and
/// `run --memory weighted`. Equal weights if no bandwidth is known. Throws `error` (usage) for a
/// node that is not there or has no memory.
[[nodiscard]] NODEWISE_API std::vector<std::uint32_t>
weights_from_bandwidths(const topology& on, std::span<const node_id> nodes);

/// Iterations of a chunk that is whole pages of an array with elements of this size, at least
/// `least_pages` of them, so that no page has two owners. Chunks shorter than a page make threads
/// meet in one memory (Hager and Wellein, figure 8.7). Throws `error` (usage) for a size of 0
/// and for more than can be counted.
[[nodiscard]] NODEWISE_API std::size_t chunk_of_whole_pages(std::size_t element_bytes,
                                                            std::size_t page_bytes,
                                                            std::size_t least_pages = 1);

} // namespace nodewise::inline v0
