// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which pages a range has, and where the edges of its extents may lie.
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "place/engine.hpp"

namespace nodewise::engine {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::uintptr_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

std::size_t smallest_extent_pages(std::span<const extent> extents) {
  std::size_t smallest = SIZE_MAX;
  for (const extent& e : extents) {
    smallest = std::min(smallest, e.pages());
  }
  return smallest;
}

} // namespace

page_window whole_pages(std::span<std::byte> range, std::size_t page_bytes) {
  const std::uintptr_t first = (address(range.data()) + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t last = (address(range.data()) + range.size()) / page_bytes * page_bytes;
  return {range.data() + (first - address(range.data())),
          last > first ? (last - first) / page_bytes : 0, page_bytes};
}

std::vector<extent> round_edges(std::vector<extent> extents, const page_window& window,
                                std::size_t granule_bytes) {
  if (granule_bytes <= window.page_bytes) {
    return extents;
  }
  const std::uintptr_t start = address(window.start);
  const auto rounded = [&](std::size_t page) {
    if (page == 0 || page == window.pages) {
      return page;
    }
    const std::uintptr_t edge = start + page * window.page_bytes;
    const std::uintptr_t to = (edge + granule_bytes / 2) / granule_bytes * granule_bytes;
    return to <= start ? 0 : std::min((to - start) / window.page_bytes, window.pages);
  };
  std::vector<extent> result;
  for (const extent& e : extents) {
    detail::append(result, {rounded(e.first_page), rounded(e.last_page)}, e.owner);
  }
  return result;
}

std::size_t reserved_page_bytes(page_size pages) noexcept {
  switch (pages) {
  case page_size::huge_2m:
    return 2 * mib;
  case page_size::huge_1g:
    return 1024 * mib;
  default:
    return 0;
  }
}

page_choice choose_pages(sys::kernel& kernel, page_size asked, std::span<const extent> extents,
                         std::size_t page_bytes) {
  if (const std::size_t reserved = reserved_page_bytes(asked); reserved != 0) {
    return {asked, reserved, {}};
  }
  if (asked == page_size::base) {
    return {asked, page_bytes, {}};
  }
  const std::size_t thp = kernel.thp_bytes();
  if (asked == page_size::transparent_huge) {
    if (thp == 0) {
      return {
          page_size::base, page_bytes, {"this kernel has no transparent huge pages: base pages"}};
    }
    return {asked, thp, {}};
  }
  const std::size_t shortest = smallest_extent_pages(extents);
  const bool long_enough =
      arithmetic::huge_pages_fit(std::min(shortest, SIZE_MAX / page_bytes) * page_bytes, thp);
  return long_enough ? page_choice{page_size::transparent_huge, thp, {}}
                     : page_choice{page_size::base, page_bytes, {}};
}

std::size_t policy_extent_limit(sys::kernel& kernel) {
  const auto text = kernel.read_file("/proc/sys/vm/max_map_count");
  std::size_t max_map_count = 65530; // the kernel's default, used if /proc is hidden
  std::from_chars(text.value.data(), text.value.data() + text.value.size(), max_map_count);
  return std::min(max_policy_extents, max_map_count / 4);
}

} // namespace nodewise::engine
