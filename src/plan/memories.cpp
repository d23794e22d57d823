// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The memories in a plan's interleaving, with and without weights.
#include <algorithm>
#include <charconv>
#include <optional>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "plan/plan_words.hpp"

namespace nodewise::plans {

namespace {

constexpr std::uint32_t heaviest = 255; // the kernel's limit

[[noreturn]] void refuse(std::string_view text, const std::string& answered) {
  throw error(error_kind::usage, std::string(text), answered,
              "write nodes and whole weights from 1 to " + std::to_string(heaviest) +
                  ": weighted:0=3,2=1");
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && stop == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

} // namespace

std::string text_of(const std::vector<memory_weight>& memories) {
  const bool even =
      std::ranges::all_of(memories, [](const memory_weight& each) { return each.weight == 1; });
  if (even) {
    node_set nodes;
    for (const memory_weight& each : memories) {
      nodes.insert(each.node);
    }
    return "interleave:" + nodes.to_string();
  }
  std::string text;
  for (const memory_weight& each : memories) {
    text += (text.empty() ? "weighted:" : ",") + std::to_string(to_int(each.node)) + "=" +
            std::to_string(each.weight);
  }
  return text;
}

std::vector<memory_weight> read_nodes(std::string_view text) {
  std::vector<memory_weight> all;
  for (const node_id node : node_set::parse(text)) {
    all.push_back({node, 1});
  }
  if (all.empty()) {
    throw error(error_kind::usage, "interleave:" + std::string(text), "it names no node",
                "write for example interleave:0-3");
  }
  return all;
}

std::vector<memory_weight> read_weights(std::string_view text) {
  std::vector<memory_weight> all;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = std::min(word.find('='), word.size());
    const auto weight = number(word.substr(std::min(equals + 1, word.size())));
    const auto node = number(word.substr(0, equals));
    if (!node || !weight || *weight == 0 || *weight > heaviest ||
        *node > static_cast<std::uint32_t>(max_id)) {
      refuse(text, "'" + std::string(word) + "' is no weight of a node");
    }
    all.push_back({node_id{static_cast<int>(*node)}, *weight});
  }
  std::ranges::sort(all, {}, &memory_weight::node);
  if (all.empty() || std::ranges::adjacent_find(all, {}, &memory_weight::node) != all.end()) {
    refuse(text, all.empty() ? "it names no node" : "it names a node twice");
  }
  return all;
}

} // namespace nodewise::plans
