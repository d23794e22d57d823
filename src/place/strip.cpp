// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/strip.hpp>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <nodewise/arithmetic.hpp>
#include <nodewise/placement.hpp>

#include "place/engine.hpp"

namespace nodewise::inline v0 {

namespace {

constexpr std::size_t pages_per_column = 8;
constexpr int absent = -ENOENT;
constexpr int zero_page = -EFAULT;

char letter_of(int node) {
  constexpr int digits = 10;
  constexpr int letters = 26;
  if (node == absent || node == zero_page) {
    return '.';
  }
  if (node < 0) {
    return '?';
  }
  if (node < digits) {
    return static_cast<char>('0' + node);
  }
  return node < digits + letters ? static_cast<char>('a' + node - digits) : '#';
}

/// The most frequent status; the lowest one if several are equally frequent.
int most_of(std::span<const int> status) {
  std::map<int, std::size_t> counts;
  for (const int each : status) {
    ++counts[each == zero_page ? absent : each];
  }
  return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
}

std::string picture(sys::kernel& kernel, const engine::page_window& window, std::size_t columns) {
  columns = std::min(columns, window.pages);
  std::string drawn;
  for (std::size_t column = 0; column < columns; ++column) {
    const auto part = arithmetic::blocked(column, window.pages, columns);
    const std::size_t asked = std::min(part.size(), pages_per_column);
    std::vector<void*> pages;
    for (std::size_t k = 0; k < asked; ++k) {
      pages.push_back(window.page(part.first + arithmetic::blocked(k, part.size(), asked).first));
    }
    std::vector<int> status(asked, -EPERM);
    (void)kernel.query_pages(pages, status);
    drawn += letter_of(most_of(status));
  }
  return drawn;
}

std::string percent(std::size_t part, std::size_t whole) {
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return part == whole ? "100 %" : fmt::format("{:.1f} %", share);
}

std::string figures(const residency& where, std::size_t bytes) {
  const std::string size = fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  if (where.resident == 0) {
    return fmt::format("{}, nothing in memory", size);
  }
  const bool all = where.resident == where.pages;
  const std::string part =
      all ? "" : fmt::format("{} in memory, ", percent(where.resident, where.pages));
  if (!where.locality()) {
    return fmt::format("{}, {}the nodes are unknown", size, part);
  }
  return fmt::format("{}, {}{} {}", size, part,
                     percent(where.on_owner, where.resident - where.unknown),
                     all ? "on its owner" : "of that on its owner");
}

} // namespace

std::string strip(std::span<const std::byte> range, std::span<const extent> extents,
                  std::size_t columns) {
  sys::kernel& kernel = sys::real_kernel();
  // The kernel's queries take plain addresses and change nothing.
  const std::span<std::byte> bytes(const_cast<std::byte*>(range.data()), range.size());
  const auto window = engine::whole_pages(bytes, kernel.base_page_bytes());
  return fmt::format("{}  {}", picture(kernel, window, columns),
                     figures(query_residency(range, extents), range.size()));
}

std::string strip(const region& of, std::size_t columns) {
  const placement& placed = of.placed();
  return strip({of.data(), placed.pages * placed.base_page_bytes}, placed.asked, columns);
}

} // namespace nodewise::inline v0
