// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/advice.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "model/costs.hpp"
#include "model/price.hpp"
#include "place/kernel_weights.hpp"

namespace nodewise::inline v0 {

namespace {

[[noreturn]] void refuse_threads(const std::string& what) {
  throw error(error_kind::usage, "advice on an arrangement", what,
              "name allowed processors, one for each thread");
}

std::size_t position_of(const model::machine_costs& in, node_id node) {
  const auto at = in.position_of(node);
  if (!at) {
    throw error(error_kind::usage, "advice on an arrangement",
                fmt::format("node {} does not exist", node), "name a node of the machine");
  }
  return *at;
}

/// For each thread the shares of the memories, by position.
model::traffic equal_work(const std::vector<std::size_t>& cores, std::size_t nodes,
                          const auto& shares_of) {
  constexpr double bytes = 1e9; // any amount: only ratios are reported
  model::traffic all;
  for (const std::size_t core : cores) {
    model::thread_traffic thread{.core = core, .read = {}, .written = {}};
    for (std::size_t n = 0; n < nodes; ++n) {
      thread.read.push_back(bytes * shares_of(core, n));
      thread.written.push_back(0);
    }
    all.threads.push_back(std::move(thread));
  }
  return all;
}

std::vector<std::size_t> cores_of(const model::machine_costs& costs, const topology& on,
                                  std::span<const cpu_id> threads) {
  if (threads.empty()) {
    refuse_threads("no threads");
  }
  std::vector<std::size_t> cores;
  for (const cpu_id cpu : threads) {
    const auto core = costs.core_of(cpu);
    if (!core || !on.allowed_cpus().contains(cpu)) {
      refuse_threads(fmt::format("this process may not use processor {}", cpu));
    }
    cores.push_back(*core);
  }
  return cores;
}

std::string reason_for(const arrangement_advice& advice, page_users users) {
  const std::string idle = advice.idle.to_string();
  if (advice.best == arrangement::interleaved) {
    if (users == page_users::anyone) {
      return "any thread works on any page, so no block of pages should be in one memory";
    }
    return advice.idle.empty() ? "some memories serve more threads than others"
                               : fmt::format("the threads' own memories are the limit, and those "
                                             "of nodes {} would be idle",
                                             idle);
  }
  if (users == page_users::anyone) {
    return "pages in turn would not be noticeably faster";
  }
  return advice.idle.empty() ? "each thread finds its part in its own node's memory"
                             : fmt::format("using the memories of nodes {}, too, costs more than "
                                           "it gains: they are far",
                                           idle);
}

} // namespace

arrangement_advice advise_arrangement(const topology& on, std::span<const cpu_id> threads,
                                      page_users users) {
  const model::machine_costs costs = model::costs_of(on.machine());
  const std::vector<std::size_t> cores = cores_of(costs, on, threads);
  const node_set memories = on.memory_nodes();
  const std::vector<std::size_t> homes = model::nearest_memory(costs, memories);
  std::vector<double> blocked(costs.size(), 0); // of all pages
  std::vector<double> even(costs.size(), 0);
  for (const std::size_t core : cores) {
    blocked[homes[costs.cores[core].node]] += 1.0 / static_cast<double>(cores.size());
  }
  arrangement_advice advice;
  for (const node_id node : memories) {
    const std::size_t at = position_of(costs, node);
    even[at] = 1.0 / static_cast<double>(memories.size());
    if (blocked[at] == 0) {
      advice.idle.insert(node);
    }
  }
  const auto seconds = [&](const auto& shares_of) {
    return model::price(costs, equal_work(cores, costs.size(), shares_of)).seconds;
  };
  const auto own_part = [&](std::size_t core, std::size_t n) {
    return homes[costs.cores[core].node] == n ? 1.0 : 0.0;
  };
  // With `anyone`, the threads work through the blocks in order: all use one memory at a time.
  double in_blocks = 0;
  if (users == page_users::owner) {
    in_blocks = seconds(own_part);
  } else {
    for (std::size_t node = 0; node < costs.size(); ++node) {
      if (blocked[node] > 0) {
        in_blocks += blocked[node] *
                     seconds([&](std::size_t, std::size_t n) { return n == node ? 1.0 : 0.0; });
      }
    }
  }
  const double in_turn = seconds([&](std::size_t, std::size_t n) { return even[n]; });
  constexpr double noticeable = 1.02; // else the arrangement that keeps locality
  advice.best = in_blocks > in_turn * noticeable ? arrangement::interleaved : arrangement::blocked;
  advice.gain = std::max(in_blocks, in_turn) / std::min(in_blocks, in_turn);
  advice.reason = reason_for(advice, users);
  advice.unknown = costs.remarks;
  return advice;
}

std::vector<std::uint32_t> weights_from_bandwidths(const topology& on,
                                                   std::span<const node_id> nodes) {
  const model::machine_costs costs = model::costs_of(on.machine());
  std::vector<double> bandwidths;
  for (const node_id node : nodes) {
    const auto at = costs.position_of(node);
    if (!at || costs.memory[*at].value <= 0) {
      throw error(error_kind::usage, "weights of nodes",
                  fmt::format("node {} has no memory here", node),
                  fmt::format("the nodes with memory are {}", on.memory_nodes().to_string()));
    }
    bandwidths.push_back(costs.memory[*at].value);
  }
  return kernel_weights::in_proportion(bandwidths);
}

std::size_t chunk_of_whole_pages(std::size_t element_bytes, std::size_t page_bytes,
                                 std::size_t least_pages) {
  if (element_bytes == 0 || page_bytes == 0 || least_pages == 0) {
    throw error(error_kind::usage, "a chunk of whole pages", "a size of 0",
                "give elements and pages of at least one byte, and at least one page");
  }
  const std::size_t common = std::gcd(element_bytes, page_bytes);
  const std::size_t elements = page_bytes / common; // the fewest that end on a page edge
  const std::size_t pages = element_bytes / common; // the pages that they fill
  const std::size_t times = least_pages / pages + (least_pages % pages != 0 ? 1 : 0);
  if (times > std::numeric_limits<std::size_t>::max() / elements) {
    throw error(error_kind::usage, "a chunk of whole pages",
                fmt::format("{} pages are more than can be counted", least_pages),
                "ask for fewer pages");
  }
  return elements * times;
}

} // namespace nodewise::inline v0
