// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the elements of arrays and spans begin in their pages.
#include <nodewise/owned_span.hpp>

#include <algorithm>
#include <atomic>

#include <fmt/core.h>

#include "place/engine.hpp"

namespace nodewise::inline v0::detail {

namespace {

constexpr std::size_t line_bytes = 64;
/// Cache lines in 4 KiB: processors compare addresses modulo 4 KiB before they compare all bits.
constexpr std::size_t lines = 64;
/// Odd, so that 64 arrays get 64 different offsets. Close to 64 / golden ratio, so that each new
/// offset is far from those before it.
constexpr std::size_t step_lines = 39;

/// Pages before the first whole one that are only partly in the range: 0 or 1.
std::size_t pages_in_front(const covered_range& covered) noexcept {
  return covered.offset_bytes != 0 ? 1 : 0;
}

engine::page_window window_of(std::span<const std::byte> range, std::size_t page_bytes) {
  // Only addresses are computed.
  return engine::whole_pages({const_cast<std::byte*>(range.data()), range.size()}, page_bytes);
}

} // namespace

std::size_t next_stagger(std::size_t alignment) noexcept {
  static std::atomic<std::size_t> arrays{0};
  if (alignment > line_bytes) {
    return 0;
  }
  return arrays.fetch_add(1, std::memory_order_relaxed) * step_lines % lines * line_bytes;
}

std::size_t bytes_for(std::size_t elements, std::size_t element_bytes, std::size_t offset) {
  constexpr std::size_t most = SIZE_MAX / 4;
  if (elements > (most - offset) / element_bytes) {
    throw error(error_kind::usage,
                fmt::format("an array of {} elements of {} bytes", elements, element_bytes),
                "more than the address space holds", "ask for less");
  }
  if (elements == 0) {
    throw error(error_kind::usage, "an array of 0 elements", "an array needs at least one element",
                "ask for memory that holds something");
  }
  return offset + elements * element_bytes;
}

covered_range cover(std::span<const std::byte> range, const extent_source& whole) {
  covered_range made;
  made.number = engine::next_placement_number();
  made.page_bytes = sys::real_kernel().base_page_bytes();
  made.offset_bytes = reinterpret_cast<std::uintptr_t>(range.data()) % made.page_bytes;
  const std::size_t pages =
      (made.offset_bytes + range.size() + made.page_bytes - 1) / made.page_bytes;
  const std::size_t inner = window_of(range, made.page_bytes).pages;
  if (inner == 0) {
    const std::vector<extent> one = whole(1);
    made.extents = {{0, pages, one.empty() ? unknown_node : one.front().owner}};
    return made;
  }
  made.extents = whole(inner);
  const std::size_t front = pages_in_front(made);
  for (extent& each : made.extents) {
    each.first_page += front;
    each.last_page += front;
  }
  made.extents.front().first_page = 0;
  made.extents.back().last_page = pages;
  return made;
}

std::vector<extent> whole_pages(const covered_range& covered, std::span<const std::byte> range) {
  const std::size_t inner = window_of(range, covered.page_bytes).pages;
  if (inner == 0) {
    return {};
  }
  std::vector<extent> made = covered.extents;
  const std::size_t front = pages_in_front(covered);
  for (extent& each : made) {
    each.first_page -= std::min(front, each.first_page);
    each.last_page -= front;
  }
  made.back().last_page = inner;
  return made;
}

} // namespace nodewise::inline v0::detail
