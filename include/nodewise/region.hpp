// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Bytes with a distribution: what arrays and allocators are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <nodewise/distribution.hpp>
#include <nodewise/export.hpp>
#include <nodewise/placement.hpp>

namespace nodewise::inline v0 {

/// Memory with a distribution: fresh zeroed pages, page-aligned, given back to the kernel when the
/// region goes, never handed to another owner. Movable, not copyable.
class NODEWISE_API region {
 public:
  /// Throws `error`: no bytes or too many, no memory, or a refusal where `options.how` is `must`;
  /// nothing stays mapped then.
  template <distribution D>
  region(std::size_t bytes, const D& d, place_options options = {})
      : region(bytes, extent_source([&d](std::size_t pages) { return d.extents(pages); }),
               options) {}
  /// The same, by a function that lists the extents of so many base pages.
  region(std::size_t bytes, const extent_source& extents, place_options options = {});

  region(region&& other) noexcept;
  region& operator=(region&& other) noexcept;
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  ~region();

  /// The first byte, at the begin of a page.
  [[nodiscard]] std::byte* data() const noexcept { return start_; }
  /// Bytes as they were asked for.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// All of them.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }

  /// Gives the memory up to the caller, who gives it back by `unmap_region`. The region is empty
  /// then.
  [[nodiscard]] std::byte* detach() noexcept { return std::exchange(start_, nullptr); }

  /// What was asked of the kernel and what it answered when the region was made.
  [[nodiscard]] const placement& placed() const noexcept { return placed_; }
  /// Of what was asked last: no other region of this process has the number, and `migrate` gives
  /// another. What was computed from `placed().asked` holds as long as it stays. 0 in an empty
  /// region.
  [[nodiscard]] std::uint64_t placement_number() const noexcept { return number_; }
  /// Where the pages are now, against what was asked last.
  [[nodiscard]] nodewise::residency residency() const;
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }

  /// Gives the region another distribution and moves what is in memory. What the kernel refuses is
  /// in the result.
  template <distribution D>
  migration migrate(const D& d) {
    return migrate_to(d.extents(placed_.pages));
  }
  /// The same, said as extents of the region's base pages.
  migration migrate_to(std::vector<extent> extents);

 private:
  void release() noexcept;

  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;        ///< asked for
  std::size_t mapped_bytes_ = 0; ///< whole pages
  std::uint64_t number_ = 0;
  placement placed_;
};

/// Gives back what `region::detach` gave up; `bytes` as the region was asked for, of whatever
/// pages. Returns 0 or errno. ENOMEM: the process has as many mappings as it may; the kernel got
/// the pages back, and only the addresses stay in use.
NODEWISE_API int unmap_region(void* start, std::size_t bytes) noexcept;

} // namespace nodewise::inline v0
