// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/memory.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include <nodewise/array.hpp>

#include "base/numbers.hpp"
#include "topology/small_file.hpp"

namespace nodewise::measure {

namespace {

using topology_detail::leading_number;
using topology_detail::take_until;

/// The size of a transparent huge page on x86-64: smaller blocks could not hold one, and each block
/// costs a policy.
constexpr std::size_t turn_bytes = std::size_t{2} << 20;
/// Parts begin at line boundaries, so that threads share no line.
constexpr std::size_t elements_per_line = line_bytes / sizeof(double);

/// The nodes in turn, each as often as its weight and spread as evenly as possible: a small buffer
/// has only the first few blocks, and these are in proportion too. The node that is furthest behind
/// its share goes next.
std::vector<node_id> turns(std::span<const node_id> nodes, std::span<const std::uint32_t> weights) {
  if (weights.empty()) {
    return {nodes.begin(), nodes.end()};
  }
  const auto all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  std::vector<std::int64_t> behind(weights.size());
  std::vector<node_id> order;
  for (std::int64_t turn = 0; turn < all; ++turn) {
    std::ranges::transform(behind, weights, behind.begin(), std::plus<>());
    const auto next = std::ranges::max_element(behind);
    *next -= all;
    order.push_back(nodes[static_cast<std::size_t>(next - behind.begin())]);
  }
  return order;
}

/// Parses "7f00-7f80 rw-p 00000000 00:00 0"; nullopt for the lines below such a header.
std::optional<address_range> parse_header(std::string_view line) {
  std::string_view range = line.substr(0, line.find(' '));
  const auto first = parse_number<std::uintptr_t>(take_until(range, '-'), 16);
  const auto last = parse_number<std::uintptr_t>(range, 16);
  return first && last ? std::optional(address_range{*first, *last}) : std::nullopt;
}

/// The bytes in a line such as "AnonHugePages:   2048 kB"; 0 for other lines.
std::uint64_t parse_bytes(std::string_view line, std::string_view name) {
  return line.starts_with(name) ? leading_number(line.substr(name.size())).value_or(0) << 10 : 0;
}

} // namespace

region take_memory(const bench& with, std::uint64_t bytes, std::span<const node_id> nodes,
                   std::span<const std::uint32_t> weights, page_size pages) {
  // A point about reserved pages must not fall back to other pages.
  const bool reserved = pages == page_size::huge_2m || pages == page_size::huge_1g;
  const auto how = with.several_memories || reserved ? strictness::must : strictness::prefer;
  if (nodes.size() == 1) {
    return {bytes, bound(nodes.front()), {how, pages}};
  }
  const std::size_t block = turn_bytes / with.kernel->base_page_bytes();
  return {bytes, block_cyclic(turns(nodes, weights), block), {how, pages}};
}

void stream_arrays::add(const bench& with, const stream_group& group, page_size pages) {
  const std::size_t count = group.does->arrays;
  const std::size_t lines = group.bytes / count / line_bytes;
  const std::size_t threads = group.cpus.size();
  if (threads == 0 || lines < threads) {
    throw error(error_kind::usage, fmt::format("{} bytes for {} threads", group.bytes, threads),
                "each thread needs at least one cache line", "give a larger --size");
  }
  std::array<double*, 4> bases{};
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t stagger = detail::next_stagger(line_bytes);
    const std::uint64_t bytes = lines * line_bytes + stagger;
    const node_id own = group.node_of_array(k);
    memory.push_back(own == unknown_node
                         ? take_memory(with, bytes, group.memory, group.weights, pages)
                         : take_memory(with, bytes, std::array{own}, {}, pages));
    bases[k] = reinterpret_cast<double*>(memory.back().data() + stagger);
  }
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t first = lines * t / threads * elements_per_line;
    const std::size_t last = lines * (t + 1) / threads * elements_per_line;
    stream_part& part = parts.emplace_back(group.does);
    part.with.elements = last - first;
    for (std::size_t k = 0; k < count; ++k) {
      part.with.arrays[k] = bases[k] + first;
    }
  }
}

std::optional<double> share_in_huge_pages(std::string_view smaps,
                                          std::span<const address_range> ranges) {
  std::uint64_t resident = 0;
  std::uint64_t huge = 0;
  bool meets = false;
  while (!smaps.empty()) {
    const std::string_view line = take_until(smaps, '\n');
    if (const auto mapping = parse_header(line)) {
      meets = std::ranges::any_of(ranges, [&](const address_range& each) {
        return mapping->first < each.last && each.first < mapping->last;
      });
    } else if (meets) {
      resident += parse_bytes(line, "Rss:");
      huge += parse_bytes(line, "AnonHugePages:");
    }
  }
  return resident == 0 ? std::nullopt
                       : std::optional(static_cast<double>(huge) / static_cast<double>(resident));
}

void look_at_memory(const bench& with, std::span<const region> memory, outcome& into) {
  std::size_t located = 0;
  std::size_t on_owner = 0;
  std::vector<address_range> ranges;
  for (const region& each : memory) {
    const residency where = each.residency();
    located += where.resident - where.unknown;
    on_owner += where.on_owner;
    const auto start = reinterpret_cast<std::uintptr_t>(each.data());
    ranges.push_back({start, start + each.size_bytes()});
  }
  if (located != 0) {
    into.on_node = static_cast<double>(on_owner) / static_cast<double>(located);
  }
  if (const auto smaps = with.kernel->read_file("/proc/self/smaps")) {
    into.in_huge_pages = share_in_huge_pages(smaps.value, ranges);
  }
  constexpr double enough = 0.99;
  if (into.on_node && *into.on_node < enough) {
    into.unavailable = fmt::format("only {} % of the pages are on the requested node",
                                   static_cast<int>(*into.on_node * 100));
  }
}

} // namespace nodewise::measure
