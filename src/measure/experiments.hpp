// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The experiments that measure a machine's memory, in the order of measurement. `planner` of
// points.cpp has a function of this name for each, which adds its points.
#pragma once

#include <string_view>

namespace nodewise::measure {

/// What is particular to an experiment.
struct description {
  std::string_view name; ///< in options and files: "loaded-latency"
  std::string_view explains;
  bool is_quick = false;           ///< in the set of less than half a minute
  bool is_matrix = false;          ///< shown as nodes with processors by memories
  bool has_own_pages = false;      ///< measures kinds of pages: --pages has no effect
  std::string_view needs = {};     ///< of the machine, for any point; empty: nothing
  std::string_view parameter = {}; ///< of the machine, that the figures become; empty: none
};

// clang-format off
#define NODEWISE_EXPERIMENTS(use) \
  use(bandwidth, "bandwidth", "all cores of a node load from a memory", .is_quick = true, .is_matrix = true, .parameter = "bandwidth") \
  use(latency, "latency", "one core, one load after the other", .is_quick = true, .is_matrix = true, .parameter = "latency") \
  use(contention, "contention", "all cores of the machine load from one memory", .is_quick = true, .parameter = "shared_bandwidth") \
  use(kernels, "kernels", "all cores, each on its own node's memory", .is_quick = true) \
  use(interleave, "interleave", "all cores; arrays local, interleaved, interleaved by weight") \
  use(scaling, "scaling", "more threads in a node, then more nodes", .parameter = "core_bandwidth") \
  use(mixes, "mixes", "loads and stores in several proportions, one node") \
  use(loaded_latency, "loaded-latency", "latency while the node's other cores load", \
      .needs = "a node with two cores that this process may use") \
  use(transfer, "transfer", "a cache line from core to core", .needs = "two cores that this process may use") \
  use(touch, "touch", "fresh memory touched for the first time", .is_quick = true, .has_own_pages = true) \
  use(migration, "migration", "pages moved from node to node", .has_own_pages = true, .needs = "two nodes with memory")

#define NODEWISE_EXPERIMENT(id, ...) id,
enum class experiment { NODEWISE_EXPERIMENTS(NODEWISE_EXPERIMENT) };
#undef NODEWISE_EXPERIMENT
#define NODEWISE_EXPERIMENT(id, word, does, ...) {.name = word, .explains = does __VA_OPT__(,) __VA_ARGS__},
inline constexpr description all_experiments[] = {NODEWISE_EXPERIMENTS(NODEWISE_EXPERIMENT)};
#undef NODEWISE_EXPERIMENT
// clang-format on

[[nodiscard]] constexpr const description& about(experiment of) noexcept {
  return all_experiments[static_cast<unsigned>(of)];
}
[[nodiscard]] constexpr std::string_view to_string(experiment of) noexcept {
  return about(of).name;
}

} // namespace nodewise::measure
