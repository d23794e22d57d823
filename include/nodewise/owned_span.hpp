// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loops over existing memory: a std::vector, a mapped file, memory that a library allocated.
//
//     #include <nodewise/openmp.hpp>
//
//     std::vector<double> v(1 << 20);
//     nodewise::openmp_teams teams;
//     const auto placed = nodewise::place(std::as_writable_bytes(std::span(v)), teams.blocked());
//     nodewise::owned_span parts(v, placed);
//     teams.for_each_owned(parts, [](std::span<double> part) { std::ranges::fill(part, 1.0); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <nodewise/array.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// The pages of a range, from that of its first byte to that of its last, and their owners.
struct covered_range {
  std::vector<extent> extents; ///< of all pages, also those that are only partly in the range
  std::size_t offset_bytes = 0;
  std::size_t page_bytes = 1;
  std::uint64_t number = 0; ///< placement number of these extents; copies share it
};

/// Returns the pages of a range and their owners. `whole` gives the owners of the whole pages; the
/// pages at the ends get the owner of their neighbour. A range without a whole page is one extent,
/// with the owner of the first page of `whole(1)`.
[[nodiscard]] NODEWISE_API covered_range cover(std::span<const std::byte> range,
                                               const extent_source& whole);
/// Returns the owners of the whole pages in `covered`.
[[nodiscard]] NODEWISE_API std::vector<extent> whole_pages(const covered_range& covered,
                                                           std::span<const std::byte> range);

} // namespace detail

/// A view of existing memory with a distribution, for `for_each_owned` and the like. It moves no
/// pages: `place` the memory first, or pass the distribution by which it was first touched. The
/// memory must outlive the view.
///
/// The distribution applies to the whole pages in the range, as in `place`. A page that is only
/// partly in the range, at either end, gets the owner of its neighbour.
template <class T>
class owned_span {
 public:
  using value_type = std::remove_const_t<T>;

  /// Uses `by` for the whole pages. Throws `error` (usage) if `by` is a map of another length.
  template <distribution D>
  owned_span(std::span<T> elements, const D& by)
      : owned_span(elements,
                   extent_source([&by](std::size_t pages) { return by.extents(pages); })) {}
  /// Uses the extents that `place` returned for the same elements.
  owned_span(std::span<T> elements, const placement& placed)
      : owned_span(elements, extent_source([&placed](std::size_t) { return placed.asked; })) {}

  /// Returns a pointer to the first element.
  [[nodiscard]] T* data() const noexcept { return elements_.data(); }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  /// Returns the element at `index`, which must be less than `size()`.
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return elements_[index]; }
  /// Returns an iterator, which is a pointer, to the first element.
  [[nodiscard]] T* begin() const noexcept { return data(); }
  /// Returns an iterator behind the last element.
  [[nodiscard]] T* end() const noexcept { return data() + size(); }

  /// Returns the owners of the pages, also of those that are only partly in the range.
  [[nodiscard]] std::span<const extent> extents() const noexcept { return covered_.extents; }
  /// Returns the number of the extents, which never change; see `region::placement_number`.
  [[nodiscard]] std::uint64_t placement_number() const noexcept { return covered_.number; }
  /// Returns which elements are in which pages.
  [[nodiscard]] element_map elements() const noexcept {
    return {covered_.offset_bytes, sizeof(T), covered_.page_bytes, size()};
  }
  /// Returns where the whole pages are now, compared with their owners.
  [[nodiscard]] nodewise::residency residency() const { return query_residency(bytes(), whole()); }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }
  /// Returns `residency()` as a picture of `columns` characters and a line of figures; see `strip`.
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
