// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measure_doubts.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cli/invocation.hpp"
#include "cli/measure_flags.hpp"
#include "cli/measure_view.hpp"
#include "doctor/control_group.hpp"
#include "measure/measurement.hpp"
#include "report/style.hpp"
#include "sys/node_memory.hpp"

namespace nodewise::cli {

using measure::experiment;
using measure::point;

measure::memory_to_have memory_here(const topology& on, sys::kernel& kernel) {
  measure::memory_to_have found;
  for (const memory_node& node : on.machine().nodes) {
    if (on.memory_nodes().size() == 1) { // then the kernel's own estimate is of this node
      found.by_node.push_back(sys::read_available_memory(kernel));
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

std::vector<std::string> doubts(const topology& on, const measure::scope& what,
                                const std::vector<point>& points, sys::kernel& kernel) {
  std::vector<std::string> all;
  const std::uint64_t most = measure::most_bytes(on, what.memory);
  if (what.bytes == 0 && most < measure::enough_bytes(on)) {
    all.push_back("buffers of " + report::format_bytes(most) +
                  ", all that memory has to give, are less than four times the caches (" +
                  report::format_bytes(measure::enough_bytes(on)) +
                  "): figures may be of the caches");
  }
  std::uint64_t asked = 0; // of the smallest point whose size was chosen
  for (const point& each : points) {
    const std::uint64_t bytes = measure::record_of(each, {}).bytes;
    const bool is_chosen = what.bytes != 0 || what.experiments.empty();
    if (is_chosen && bytes != 0 && bytes < measure::enough_bytes(on)) {
      asked = asked == 0 ? bytes : std::min(asked, bytes);
    }
  }
  if (asked != 0) {
    all.push_back("buffers of " + report::format_bytes(asked) +
                  " are less than four times the caches of this machine (" +
                  report::format_bytes(measure::enough_bytes(on)) +
                  "): figures may be of the caches");
  }
  std::size_t threads = 0;
  for (const point& each : points) {
    threads = std::max(threads, measure::record_of(each, {}).threads);
  }
  const auto quota = doctor::read_cpu_quota(kernel).processors;
  if (quota && *quota < static_cast<double>(threads)) {
    all.push_back("this control group may use the time of " + format_figure(*quota) +
                  " processors, for " + std::to_string(threads) +
                  " threads: they are stopped in between");
  }
  return all;
}

std::vector<std::string> left_out(const std::vector<point>& points) {
  const auto interleaves = [](const point& each) { return each.of == experiment::interleave; };
  const auto by_weight = [](const point& each) { return each.label == "by weight"; };
  if (std::ranges::count_if(points, interleaves) < 2 || std::ranges::any_of(points, by_weight)) {
    return {};
  }
  return {"interleave: by weight is left out, since no bandwidths are known: write " +
          option_name(flags::only) + " bandwidth,interleave"};
}

} // namespace nodewise::cli
