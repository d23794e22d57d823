// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/owned_span.hpp>

#include <algorithm>
#include <cstdint>

#include "place/engine.hpp"

namespace nodewise::inline v0::detail {

namespace {

/// Pages before the first whole one that are only partly in the range: 0 or 1.
std::size_t pages_in_front(const covered_range& covered) noexcept {
  return covered.offset_bytes != 0 ? 1 : 0;
}

engine::page_window window_of(std::span<const std::byte> range, std::size_t page_bytes) {
  // Only addresses are computed.
  return engine::whole_pages({const_cast<std::byte*>(range.data()), range.size()}, page_bytes);
}

} // namespace

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
