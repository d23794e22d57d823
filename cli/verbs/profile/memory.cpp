// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/memory.hpp"

#include <algorithm>
#include <string_view>

#include "base/parse_number.hpp"
#include "sys/node_memory.hpp"

namespace nodewise::cli {

std::uint64_t read_migrated_pages(sys::kernel& from) {
  constexpr std::string_view label = "\nnuma_pages_migrated ";
  const auto text = from.read_file("/proc/vmstat");
  const std::size_t at = text ? text.value.find(label) : std::string::npos;
  if (at == std::string::npos) {
    return 0;
  }
  std::string_view digits = std::string_view(text.value).substr(at + label.size());
  return take_number<std::uint64_t>(digits).value_or(0);
}

std::vector<profile::node_memory> read_node_memory(const machine& on, sys::kernel& from) {
  std::vector<profile::node_memory> all;
  for (const memory_node& node : on.nodes) {
    if (const auto now = sys::read_node_memory(from, node.id)) {
      all.push_back({node.id, now->total_bytes, now->free_bytes, now->cache_bytes, std::nullopt});
    }
  }
  return all;
}

void look_again(std::vector<profile::node_memory>& all, const machine& on, sys::kernel& from) {
  for (const profile::node_memory& now : read_node_memory(on, from)) {
    const auto same = std::ranges::find(all, now.node, &profile::node_memory::node);
    if (same != all.end() && (!same->fullest || now.free_bytes < same->fullest->free_bytes)) {
      same->fullest = {now.free_bytes, now.cache_bytes};
    }
  }
}

} // namespace nodewise::cli
