// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/measure/options.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "cli/verbs/measure/flags.hpp"
#include "cli/verbs/measure/view.hpp"
#include "doctor/allowance.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

using measure::experiment;
using measure::point;

measure::memory_to_have memory_here(const topology& on, sys::kernel& kernel) {
  measure::memory_to_have found;
  for (const memory_node& node : on.machine().nodes) {
    if (on.memory_nodes().size() == 1) { // then the kernel's estimate is for this node
      found.by_node.push_back(sys::read_meminfo(kernel, "MemAvailable"));
      continue;
    }
    const auto memory = sys::read_node_memory(kernel, node.id);
    found.by_node.push_back(
        memory ? std::optional(memory->free_bytes + memory->evictable_bytes.value_or(0))
               : std::nullopt);
  }
  if (const auto room = doctor::read_memory_limit(kernel).room_bytes) {
    found.together = *room;
  }
  return found;
}

namespace {

std::string small_buffers(std::uint64_t bytes, std::string_view why, std::uint64_t enough) {
  return fmt::format("buffers of {}{} are smaller than four times the caches of this machine ({}): "
                     "figures may show the caches",
                     report::format_bytes(bytes), why, report::format_bytes(enough));
}

} // namespace

std::vector<std::string> doubts(const topology& on, const measure::scope& what,
                                const std::vector<point>& points, sys::kernel& kernel) {
  std::vector<std::string> all;
  const std::uint64_t enough = measure::enough_bytes(on);
  const bool is_asked = what.bytes != 0 || what.experiments.empty(); // workgroups set a size
  const std::uint64_t most = measure::most_bytes(on, what.memory);
  if (!is_asked && most < enough) {
    all.push_back(small_buffers(most, ", all the memory that is available,", enough));
  }
  std::uint64_t smallest = enough;
  std::size_t threads = 0;
  for (const point& each : points) {
    const measure::record described = measure::record_of(each, {});
    threads = std::max(threads, described.threads);
    smallest = described.bytes != 0 ? std::min(smallest, described.bytes) : smallest;
  }
  if (is_asked && smallest < enough) {
    all.push_back(small_buffers(smallest, "", enough));
  }
  const auto quota = doctor::read_cpu_quota(kernel).processors;
  if (quota && *quota < static_cast<double>(threads)) {
    all.push_back(fmt::format("this control group may use {} processors for {} threads: the kernel "
                              "stops them at times",
                              format_figure(*quota), threads));
  }
  return all;
}

std::vector<std::string> left_out(const std::vector<point>& points) {
  const auto interleaves = [](const point& each) { return each.of == experiment::interleave; };
  const auto by_weight = [](const point& each) { return each.label == "by weight"; };
  if (std::ranges::count_if(points, interleaves) < 2 || std::ranges::any_of(points, by_weight)) {
    return {};
  }
  return {fmt::format("interleave: by weight is left out, since no bandwidths are known: use {} "
                      "bandwidth,interleave",
                      option_name(flags::only))};
}

} // namespace nodewise::cli
