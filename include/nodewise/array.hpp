// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A contiguous array with a distribution: what a plain allocation is to a loop, but on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <nodewise/distribution.hpp>
#include <nodewise/export.hpp>
#include <nodewise/placement.hpp>
#include <nodewise/region.hpp>
#include <nodewise/strip.hpp>

namespace nodewise::inline v0 {

/// Elements first..last of an array, half-open.
struct index_range {
  std::size_t first = 0;
  std::size_t last = 0;

  /// Elements in it.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return last - first; }
  friend constexpr bool operator==(const index_range&, const index_range&) = default;
};

/// Which elements lie in which pages. An element belongs to the page that its first byte is in.
struct element_map {
  std::size_t offset_bytes = 0; ///< from the first page's begin to the first element
  std::size_t element_bytes = 1;
  std::size_t page_bytes = 1;
  std::size_t size = 0; ///< elements

  /// The elements that belong to pages first..last, half-open.
  [[nodiscard]] constexpr index_range of_pages(std::size_t first, std::size_t last) const noexcept {
    return {first_from(first, element_bytes), first_from(last, element_bytes)};
  }
  /// The same where the element's size is known when the program is compiled: a division less,
  /// which a loop over single pages would notice.
  template <std::size_t ElementBytes>
  [[nodiscard]] constexpr index_range of_pages(std::size_t first, std::size_t last) const noexcept {
    return {first_from(first, ElementBytes), first_from(last, ElementBytes)};
  }

 private:
  [[nodiscard]] constexpr std::size_t first_from(std::size_t page,
                                                 std::size_t bytes) const noexcept {
    const std::size_t begin = page * page_bytes;
    if (begin <= offset_bytes) {
      return 0;
    }
    const std::size_t element = (begin - offset_bytes + bytes - 1) / bytes;
    return element < size ? element : size;
  }
};

/// How an array is made.
struct array_options {
  strictness how = strictness::prefer;
  page_size pages = page_size::automatic;
  /// Whether the first element lies some cache lines into the first page, each new array elsewhere.
  /// Loops over arrays whose elements have equal addresses modulo 4 KiB lose up to a tenth: a store
  /// to one looks to the processor like a store to what it reads of another.
  bool staggered = true;
};

namespace detail {

/// Bytes by which the next array of this process is staggered: whole cache lines, less than a page,
/// far from those of the arrays before it; 0 where that would break `alignment`.
[[nodiscard]] NODEWISE_API std::size_t next_stagger(std::size_t alignment) noexcept;
/// What a region must hold. Throws `error` (usage) for more than the address space has.
[[nodiscard]] NODEWISE_API std::size_t bytes_for(std::size_t elements, std::size_t element_bytes,
                                                 std::size_t offset);

} // namespace detail

/// `size` elements of a type that is mere bytes, on pages that a distribution gave to nodes. Fresh
/// elements are zero bytes that nobody has touched: a page comes into memory when it is written
/// first, and then on its owner's node, whoever writes. Movable, not copyable; elements stay where
/// they are.
///
/// A staggered base puts fewer elements into the first page, so that the edges of equal arrays may
/// differ by less than a page.
template <class T, distribution D = blocked>
class array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>,
                "an array's elements are bytes until they are filled; for others take `objects`");

 public:
  using value_type = T;

  /// Throws `error`: no elements or too many, no memory, or a refusal where `options.how` is
  /// `must`; nothing stays mapped then.
  array(std::size_t size, D by, array_options options = {})
      : array(size, std::move(by), options,
              options.staggered ? detail::next_stagger(alignof(T)) : 0) {}

  array(array&& other) noexcept
      : by_(std::move(other.by_)), memory_(std::move(other.memory_)),
        map_(std::exchange(other.map_, {})) {}
  array& operator=(array&& other) noexcept {
    by_ = std::move(other.by_);
    memory_ = std::move(other.memory_);
    map_ = std::exchange(other.map_, {});
    return *this;
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() = default;

  /// The first element.
  [[nodiscard]] T* data() noexcept {
    return reinterpret_cast<T*>(memory_.data() + map_.offset_bytes);
  }
  [[nodiscard]] const T* data() const noexcept {
    return reinterpret_cast<const T*>(memory_.data() + map_.offset_bytes);
  }
  /// Elements.
  [[nodiscard]] std::size_t size() const noexcept { return map_.size; }
  /// The element; `index` must be less than `size()`.
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  /// Iterators are pointers.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// Behind the last element.
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  /// Who owns which pages, as asked.
  [[nodiscard]] const D& distribution() const noexcept { return by_; }
  /// The same as extents of base pages, edges rounded to the pages in force.
  [[nodiscard]] std::span<const extent> extents() const noexcept { return memory_.placed().asked; }
  /// Which elements lie in which pages.
  [[nodiscard]] const element_map& elements() const noexcept { return map_; }
  /// Changes with the extents; see `region::placement_number`.
  [[nodiscard]] std::uint64_t placement_number() const noexcept {
    return memory_.placement_number();
  }
  /// What the kernel answered when the array was made.
  [[nodiscard]] const placement& placed() const noexcept { return memory_.placed(); }
  /// Where the pages are now: asked against actual.
  [[nodiscard]] nodewise::residency residency() const { return memory_.residency(); }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }
  /// The same as a picture of `columns` characters and a line of figures; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return nodewise::strip(memory_, columns);
  }
  /// Gives the array another distribution and moves what is in memory; contents and addresses stay.
  /// What the kernel refuses is in the result.
  migration migrate(D by) {
    migration moved = memory_.migrate(by);
    by_ = std::move(by);
    return moved;
  }

 private:
  array(std::size_t size, D by, array_options options, std::size_t offset)
      : by_(std::move(by)),
        memory_(detail::bytes_for(size, sizeof(T), offset), by_, {options.how, options.pages}),
        map_{offset, sizeof(T), memory_.placed().base_page_bytes, size} {}

  D by_;
  region memory_;
  element_map map_;
};

} // namespace nodewise::inline v0
