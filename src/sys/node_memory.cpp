// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/node_memory.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace nodewise::sys {

namespace {

/// "Node 0 MemFree:  1234 kB", in bytes.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  const std::string label = std::string(name) + ":";
  std::size_t at = text.find(label);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  at = text.find_first_not_of(' ', at + label.size());
  std::uint64_t kibibytes = 0;
  if (at == std::string_view::npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), kibibytes).ec != std::errc{}) {
    return std::nullopt;
  }
  return kibibytes * 1024;
}

} // namespace

std::optional<std::uint64_t> read_free_swap(kernel& from) {
  const auto text = from.read_file("/proc/meminfo");
  return text ? field(text.value, "\nSwapFree") : std::nullopt;
}

std::optional<std::uint64_t> read_available_memory(kernel& from) {
  const auto text = from.read_file("/proc/meminfo");
  return text ? field(text.value, "\nMemAvailable") : std::nullopt;
}

std::optional<node_memory> read_node_memory(kernel& from, node_id node) {
  const std::string file =
      "/sys/devices/system/node/node" + std::to_string(to_int(node)) + "/meminfo";
  const auto text = from.read_file(file.c_str());
  if (!text) {
    return std::nullopt;
  }
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
