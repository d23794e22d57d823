// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loops over memory that is there already: a std::vector, a mapped file, what a library allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <nodewise/array.hpp>
#include <nodewise/distribution.hpp>
#include <nodewise/export.hpp>
#include <nodewise/placement.hpp>
#include <nodewise/strip.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// A range as loops see it: from the page of its first byte to that of its last.
struct covered_range {
  std::vector<extent> extents; ///< of all pages, those included that it covers only partly
  std::size_t offset_bytes = 0;
  std::size_t page_bytes = 1;
  std::uint64_t number = 0; ///< of these extents and of copies
};

/// The owners of a range's whole pages, asked of `whole` by their number, extended to the pages at
/// its ends. A range without a whole page is one extent: of the owner of `whole(1)`'s first page.
[[nodiscard]] NODEWISE_API covered_range cover(std::span<const std::byte> range,
                                               const extent_source& whole);
/// Of `covered`, the owners of the whole pages again.
[[nodiscard]] NODEWISE_API std::vector<extent> whole_pages(const covered_range& covered,
                                                           std::span<const std::byte> range);

} // namespace detail

/// Elements of somebody else's memory with a distribution, for `for_each_owned` and the like.
/// Making one moves nothing: `place` the memory first, or say by which distribution it was touched.
/// The memory must outlive it.
///
/// The distribution is that of the whole pages in the range, as `place` gives it; a page that the
/// range covers only partly, at either end, belongs to its neighbour's owner.
template <class T>
class owned_span {
 public:
  using value_type = std::remove_const_t<T>;

  /// By a distribution of the whole pages. Throws `error` (usage) where that is none for so many.
  template <distribution D>
  owned_span(std::span<T> elements, const D& by)
      : owned_span(elements,
                   extent_source([&by](std::size_t pages) { return by.extents(pages); })) {}
  /// By what `place` answered for the same elements.
  owned_span(std::span<T> elements, const placement& placed)
      : owned_span(elements, extent_source([&placed](std::size_t) { return placed.asked; })) {}

  /// The first element.
  [[nodiscard]] T* data() const noexcept { return elements_.data(); }
  /// Elements.
  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  /// The element; `index` must be less than `size()`.
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return elements_[index]; }
  /// Iterators are pointers.
  [[nodiscard]] T* begin() const noexcept { return data(); }
  /// Behind the last element.
  [[nodiscard]] T* end() const noexcept { return data() + size(); }

  /// Who owns which pages, those included that the range covers only partly.
  [[nodiscard]] std::span<const extent> extents() const noexcept { return covered_.extents; }
  /// Of the extents, which never change; see `region::placement_number`.
  [[nodiscard]] std::uint64_t placement_number() const noexcept { return covered_.number; }
  /// Which elements lie in which pages.
  [[nodiscard]] element_map elements() const noexcept {
    return {covered_.offset_bytes, sizeof(T), covered_.page_bytes, size()};
  }
  /// Where the whole pages are now: asked against actual.
  [[nodiscard]] nodewise::residency residency() const { return query_residency(bytes(), whole()); }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }
  /// The same as a picture; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return nodewise::strip(bytes(), whole(), columns);
  }

 private:
  owned_span(std::span<T> elements, const extent_source& whole)
      : elements_(elements), covered_(detail::cover(std::as_bytes(elements), whole)) {}

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(elements_);
  }
  [[nodiscard]] std::vector<extent> whole() const { return detail::whole_pages(covered_, bytes()); }

  std::span<T> elements_;
  detail::covered_range covered_;
};

template <std::ranges::contiguous_range R, class By>
owned_span(R&&, const By&)
    -> owned_span<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

} // namespace nodewise::inline v0
