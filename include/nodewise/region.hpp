// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
  region(std::size_t bytes, const extent_source& extents, place_options options = {});

  region(region&& other) noexcept;
  region& operator=(region&& other) noexcept;
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  ~region();

  [[nodiscard]] std::byte* data() const noexcept { return start_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {start_, bytes_}; }

  /// What was asked of the kernel and what it answered when the region was made.
  [[nodiscard]] const placement& placed() const noexcept { return placed_; }
  /// Where the pages are now, against what was asked last.
  [[nodiscard]] residency where() const;

  /// Gives the region another distribution and moves what is in memory.
  template <distribution D>
  migration migrate(const D& d) {
    return migrate_to(d.extents(placed_.pages));
  }

 private:
  migration migrate_to(std::vector<extent> extents);
  void release() noexcept;

  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;        ///< asked for
  std::size_t mapped_bytes_ = 0; ///< whole pages
  placement placed_;
};

} // namespace nodewise::inline v0
