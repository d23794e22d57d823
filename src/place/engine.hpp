// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The placement engine over any kernel; the public functions call it with the real one.
#pragma once

#include <nodewise/placement.hpp>

#include "sys/kernel.hpp"

namespace nodewise::engine {

/// "pages 0..512 on node 1", for errors.
[[nodiscard]] std::string describe(const extent& e);

/// With more extents than this, pages are migrated instead of given policies, whatever
/// vm.max_map_count allows: each extent costs a mapping, and every fault searches the mappings.
inline constexpr std::size_t max_policy_extents = 1000;

/// Pages per move_pages call: enough to make the kernel's cost per call negligible, and few enough
/// to keep the buffers small.
inline constexpr std::size_t batch_pages = 4096;

/// The whole base pages inside a range of bytes.
struct page_window {
  std::byte* start = nullptr; ///< page-aligned
  std::size_t pages = 0;
  std::size_t page_bytes = 0;

  [[nodiscard]] std::byte* page(std::size_t index) const noexcept {
    return start + index * page_bytes;
  }
  [[nodiscard]] std::span<std::byte> bytes_of(const extent& e) const noexcept {
    return {page(e.first_page), e.pages() * page_bytes};
  }
};

[[nodiscard]] page_window whole_pages(std::span<std::byte> range, std::size_t page_bytes);

/// Moves every inner edge to the nearest multiple of `granule_bytes` in the address space. Drops
/// extents that become empty and merges neighbours with the same owner.
[[nodiscard]] std::vector<extent> round_edges(std::vector<extent> extents,
                                              const page_window& window, std::size_t granule_bytes);

/// The largest number of extents of one range that get policies: at most a quarter of
/// vm.max_map_count, since past that the program's own malloc and mmap start to fail.
[[nodiscard]] std::size_t policy_extent_limit(sys::kernel& kernel);

/// The chosen page size (never `automatic`) and the granule that extents are rounded to.
struct page_choice {
  page_size pages = page_size::base;
  std::size_t granule_bytes = 0;
  std::vector<std::string> notes;
};
[[nodiscard]] page_choice choose_pages(sys::kernel& kernel, page_size asked,
                                       std::span<const extent> extents, std::size_t page_bytes);

/// The size of a reserved huge page in bytes, or 0 if `pages` is not reserved huge pages.
[[nodiscard]] std::size_t reserved_page_bytes(page_size pages) noexcept;

/// `options.pages` may name reserved huge pages only if the range is mapped from them.
[[nodiscard]] placement place_extents(sys::kernel& kernel, std::span<std::byte> range,
                                      const extent_source& extents, place_options options);

/// Checks that the nodes have room for this placement's fresh memory: free memory plus pages of
/// files. With `must`, throws `error` (system, ENOMEM) and names the extent: touching its pages
/// would make the kernel kill a process. With `prefer`, adds a note: what does not fit goes to
/// other nodes. Memory placed by migration is already allocated and is not checked.
void require_room(sys::kernel& kernel, strictness how, placement& report);

[[nodiscard]] migration migrate_extents(sys::kernel& kernel, std::span<std::byte> range,
                                        std::span<const extent> extents);

[[nodiscard]] residency query_residency(sys::kernel& kernel, std::span<const std::byte> range,
                                        std::span<const extent> extents);

/// A new number for a placement: 1, 2 and so on. See `region::placement_number`.
[[nodiscard]] std::uint64_t next_placement_number() noexcept;

/// Unmaps a mapping of `bytes`, in base pages or in reserved huge pages. Returns 0 or errno. On
/// ENOMEM (the process has max_map_count mappings) the addresses stay mapped, but the kernel gets
/// the pages back.
[[nodiscard]] int give_back(sys::kernel& kernel, void* start, std::size_t bytes) noexcept;

/// Brings every page into memory without changing its contents.
int populate(sys::kernel& kernel, std::span<std::byte> range, std::size_t page_bytes);

} // namespace nodewise::engine
