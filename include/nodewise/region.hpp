// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Memory with a distribution. Arrays and allocators are built from it.
//
//     #include <nodewise/team_layout.hpp>
//
//     const nodewise::team_layout team(nodewise::topology::system(), nodewise::bind_policy::close);
//     nodewise::region memory(16 << 20, nodewise::blocked(team.owners()));
//     std::memset(memory.data(), 1, memory.size_bytes());
//     const nodewise::residency found = memory.residency();
//     std::printf("%zu of %zu pages are on their owner\n", found.on_owner, found.pages);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <nodewise/export.hpp>
#include <nodewise/placement.hpp>

namespace nodewise::inline v0 {

/// Memory with a distribution: zeroed, page-aligned pages. The destructor returns them to the
/// kernel; they are never pooled for another owner. Movable, not copyable.
class NODEWISE_API region {
 public:
  /// Allocates `bytes` bytes and places them by `d`. Throws `error`: (usage) for 0 bytes or too
  /// many, (system) if memory runs out, and with `must` if the placement is refused; no memory is
  /// kept.
  template <distribution D>
  NODEWISE_NAMED_BY_CALLER region(std::size_t bytes, const D& d, place_options options = {})
      : region(bytes, extent_source([&d](std::size_t pages) { return d.extents(pages); }),
               options) {}
  /// The same with a function that returns the extents of a given number of base pages.
  region(std::size_t bytes, const extent_source& extents, place_options options = {});

  region(region&& other) noexcept;
  region& operator=(region&& other) noexcept;
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  ~region();

  /// Returns the address of the first byte, which is the start of a page.
  [[nodiscard]] std::byte* data() const noexcept { return start_; }
  /// Returns the size in bytes, as requested.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// Returns the region's bytes, as many as were requested.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }

  /// Hands the memory to the caller, which frees it with `unmap_region`. The region no longer holds
  /// memory then.
  [[nodiscard]] std::byte* detach() noexcept { return std::exchange(start_, nullptr); }

  /// Returns how the kernel placed the region; `migrate` updates `asked` and `refused`.
  [[nodiscard]] const placement& placed() const noexcept { return placed_; }
  /// Returns a number for the region's current extents. No other region of this process has it, and
  /// `migrate` changes it. Results computed from `placed().asked` are valid while it stays the
  /// same. 0 after the region was moved from.
  [[nodiscard]] std::uint64_t placement_number() const noexcept { return number_; }
  /// Returns where the pages are now, compared with the current extents.
  [[nodiscard]] nodewise::residency residency() const;
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }

  /// Gives the region another distribution and migrates the pages that are in memory. The result
  /// lists what the kernel refused.
  template <distribution D>
  migration migrate(const D& d) {
    return migrate_to(d.extents(placed_.pages));
  }
  /// The same with extents of the region's base pages. Throws `error` (usage) for extents outside
  /// the region or without a node.
  migration migrate_to(std::vector<extent> extents);

 private:
  void release() noexcept;

  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;        ///< as requested
  std::size_t mapped_bytes_ = 0; ///< whole pages
  std::uint64_t number_ = 0;
  placement placed_;
};

/// Frees memory from `region::detach`, of any page size; `bytes` is the size that was requested for
/// the region. Returns 0 or errno. ENOMEM: the process has reached its limit of mappings; the
/// kernel has the pages back, and only the addresses stay in use.
NODEWISE_API int unmap_region(void* start, std::size_t bytes) noexcept;

} // namespace nodewise::inline v0
