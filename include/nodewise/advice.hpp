// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Predicts which distribution suits a loop, by the model of memory costs (docs/model.md). Results
// are predictions, not measurements.
//
//     const auto machine = nodewise::topology::synthetic("4x2"); // or system()
//     const std::vector<nodewise::cpu_id> threads{nodewise::cpu_id{0}, nodewise::cpu_id{1}};
//     const auto advice = nodewise::advise_arrangement(machine, threads);
//     const bool blocked = advice.best == nodewise::arrangement::blocked;
//     std::printf("%s, %.1fx faster (predicted): %s\n", blocked ? "blocked" : "interleaved",
//                 advice.gain, advice.reason.c_str());
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::inline v0 {

/// Which threads work on a page.
enum class page_users {
  owner,  ///< one thread: equal contiguous blocks, as under `schedule(static)`
  anyone, ///< any thread: dynamic schedules, tasks, random access
};

/// How the pages of an array are distributed over nodes.
enum class arrangement {
  blocked,     ///< a contiguous part for each thread, on the thread's node
  interleaved, ///< pages in turn over all memory nodes
};

/// The better arrangement, and the reason.
struct arrangement_advice {
  arrangement best = arrangement::blocked;
  double gain = 1;                  ///< predicted speedup over the other arrangement, 1 or more
  node_set idle;                    ///< nodes whose memory `blocked` does not use
  std::string reason;               ///< a sentence
  std::vector<std::string> unknown; ///< values that the machine lacks, and what was assumed
};

/// Returns the better arrangement for arrays that these threads, one per processor, work through as
/// fast as memory allows. Uses the machine's parameters `bandwidth`, `core_bandwidth`, `latency`
/// and the like; without any, assumes only that a memory shared by more threads is slower. Method
/// (Hager and Wellein, problem 8.3): interleave if the threads of a node can use more bandwidth
/// than its memory has and other memories are idle. Throws `error` (usage) if there are no threads
/// or a processor is not allowed.
[[nodiscard]] NODEWISE_API arrangement_advice advise_arrangement(
    const topology& on, std::span<const cpu_id> threads, page_users users = page_users::owner);

/// Returns small integers in proportion to the nodes' memory bandwidths, within 2 % if numbers up
/// to 255 (the kernel's limit for weighted interleaving) allow. Use them for `weighted_blocks` and
/// `run --memory weighted`. Equal weights if no bandwidth is known. Throws `error` (usage) for a
/// node that does not exist or has no memory.
[[nodiscard]] NODEWISE_API std::vector<std::uint32_t>
weights_from_bandwidths(const topology& on, std::span<const node_id> nodes);

/// Returns the number of iterations in a chunk that fills whole pages of an array, at least
/// `least_pages` of them, so that no page has two owners. With chunks shorter than a page, several
/// threads share one memory (Hager and Wellein, figure 8.7). Throws `error` (usage) if an argument
/// is 0 or the result does not fit in `std::size_t`.
[[nodiscard]] NODEWISE_API std::size_t chunk_of_whole_pages(std::size_t element_bytes,
                                                            std::size_t page_bytes,
                                                            std::size_t least_pages = 1);

} // namespace nodewise::inline v0
