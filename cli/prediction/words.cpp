// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/prediction/words.hpp"

#include <fmt/core.h>

namespace nodewise::cli {

std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) {
    return short_number(seconds) + " s";
  }
  if (seconds >= 1e-3) {
    return short_number(seconds * 1e3) + " ms";
  }
  return seconds >= 1e-6 ? short_number(seconds * 1e6) + " us"
                         : short_number(seconds * 1e9) + " ns";
}

std::string format_bandwidth(double bytes_per_s) {
  return short_number(bytes_per_s / 1e9) + " GB/s";
}

std::string load_name(const model::resource_load& load, const model::machine_costs& on) {
  switch (load.kind) {
  case model::resource_kind::memory:
    return fmt::format("memory of node {}", on.nodes[load.at]);
  case model::resource_kind::link:
    // As in parameters: processors of the first node read from the memory of the second.
    return fmt::format("{} {}:{}", on.links[load.at].is_path ? "path" : "link",
                       on.nodes[on.links[load.at].to], on.nodes[on.links[load.at].from]);
  case model::resource_kind::core:
    return fmt::format("cores of node {}", on.nodes[load.at]);
  case model::resource_kind::thread:
    break;
  }
  return "its own limit";
}

} // namespace nodewise::cli
