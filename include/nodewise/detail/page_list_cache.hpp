// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <nodewise/schedule.hpp>

namespace nodewise::inline v0::detail {

/// Arrays whose extents have a placement number: those of this library.
template <class A>
concept numbered_placement = requires(const A& a) {
  { a.placement_number() } -> std::same_as<std::uint64_t>;
};

/// Caches the page lists of the arrays of recent loops, so that a repeated loop does not process
/// every extent again; block-cyclic arrays have many extents. For one thread_map, and for one
/// thread at a time.
class NODEWISE_API page_list_cache {
 public:
  template <class A>
  [[nodiscard]] std::shared_ptr<const page_lists> of(const A& array, const thread_map& threads) {
    if constexpr (numbered_placement<A>) {
      return of(array.placement_number(), array.extents(), threads);
    } else {
      return std::make_shared<const page_lists>(array.extents(), threads);
    }
  }
  /// Lists with `number` 0 are not cached.
  [[nodiscard]] std::shared_ptr<const page_lists>
  of(std::uint64_t number, std::span<const extent> pages, const thread_map& threads);

 private:
  struct entry {
    std::uint64_t number = 0;
    std::shared_ptr<const page_lists> lists;
  };
  static constexpr std::size_t kept = 16; ///< more than the arrays of most programs' loops

  std::array<entry, kept> entries_;
  std::size_t oldest_ = 0;
};

} // namespace nodewise::inline v0::detail
