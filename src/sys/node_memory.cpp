// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/node_memory.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/parse_number.hpp"

namespace nodewise::sys {

namespace {

/// "Node 0 MemFree:  1234 kB", in bytes.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  const std::string label = fmt::format("{}:", name);
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(std::min(text.find_first_not_of(' ', at + label.size()), text.size()));
  const auto kibibytes = take_number<std::uint64_t>(text);
  return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
}

} // namespace

std::optional<std::uint64_t> read_total_swap(kernel& from) {
  return field(from.read_file("/proc/meminfo").value, "SwapTotal");
}

std::optional<std::uint64_t> read_free_swap(kernel& from) {
  return field(from.read_file("/proc/meminfo").value, "SwapFree");
}

std::optional<std::uint64_t> read_available_memory(kernel& from) {
  return field(from.read_file("/proc/meminfo").value, "MemAvailable");
}

std::optional<node_memory> read_node_memory(kernel& from, node_id node) {
  const std::string file = fmt::format("/sys/devices/system/node/node{}/meminfo", node);
  const auto text = from.read_file(file.c_str());
  const auto total = field(text.value, " MemTotal");
  const auto free = field(text.value, " MemFree");
  const auto cache = field(text.value, " FilePages");
  if (!total || !free || !cache) {
    return std::nullopt;
  }
  const auto active = field(text.value, " Active(file)");
  const auto inactive = field(text.value, " Inactive(file)");
  return node_memory{*total, *free, *cache,
                     active && inactive ? std::optional(*active + *inactive) : std::nullopt};
}

} // namespace nodewise::sys
