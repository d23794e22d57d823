// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A contiguous array whose pages are placed by a distribution.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::array<double> a(1 << 20, teams.blocked()); // a block for each thread
//     teams.fill(a, 1.0);
//     a[0] = 2.0;
//     std::puts(a.strip().c_str()); // where its pages are
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <nodewise/strip.hpp>

namespace nodewise::inline v0 {

/// Elements first..last of an array, half-open.
struct index_range {
  std::size_t first = 0;
  std::size_t last = 0;

  /// Returns the number of elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return last - first; }
  friend constexpr bool operator==(const index_range&, const index_range&) = default;
};

/// Which elements are in which pages. An element belongs to the page of its first byte.
struct element_map {
  std::size_t offset_bytes = 0; ///< from the start of the first page to the first element
  std::size_t element_bytes = 1;
  std::size_t page_bytes = 1;
  std::size_t size = 0; ///< elements

  /// Returns the elements that belong to pages first..last, half-open.
  [[nodiscard]] constexpr index_range of_pages(std::size_t first, std::size_t last) const noexcept {
    return {first_from(first, element_bytes), first_from(last, element_bytes)};
  }
  /// The same for an element size that is known at compile time. It saves a division, which matters
  /// in loops over single pages.
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

/// Options of an array.
struct array_options {
  strictness how = strictness::prefer;
  page_size pages = page_size::automatic;
  /// Whether each new array starts at another cache line of its first page. Loops over arrays whose
  /// elements have equal addresses modulo 4 KiB are up to a tenth slower, because the processor
  /// takes a store to one array for a store to what it reads from another.
  bool staggered = true;
};

namespace detail {

/// Returns the offset in bytes of the next array of this process: whole cache lines, less than a
/// page, far from the offsets of the arrays before it; 0 if an offset would break `alignment`.
[[nodiscard]] NODEWISE_API std::size_t next_stagger(std::size_t alignment) noexcept;
/// Returns the bytes that an array needs. Throws `error` (usage) for 0 elements, and for more than
/// the address space holds.
[[nodiscard]] NODEWISE_API std::size_t bytes_for(std::size_t elements, std::size_t element_bytes,
                                                 std::size_t offset);

} // namespace detail

/// A contiguous array of `size` elements, whose pages are placed by a distribution. `T` must be
/// trivially copyable and default-constructible. Fresh elements are zero bytes, not yet touched:
/// the kernel allocates a page when it is first written, on its owner's node, whichever thread
/// writes. Movable, not copyable; elements keep their addresses.
///
/// A staggered array has fewer elements in its first page, so the block edges of equally long
/// arrays may differ, by less than a page.
template <class T, distribution D = blocked>
class array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>,
                "an array's elements are bytes until they are filled; for others take `objects`");

 public:
  using value_type = T;

  /// Allocates the array and places it by `by`. Throws `error`: (usage) for no elements or too
  /// many, (system) if memory runs out, and with `must` if the placement is refused; no memory is
  /// kept.
  NODEWISE_NAMED_BY_CALLER array(std::size_t size, D by, array_options options = {})
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

  /// Returns a pointer to the first element.
  [[nodiscard]] T* data() noexcept {
    return reinterpret_cast<T*>(memory_.data() + map_.offset_bytes);
  }
  [[nodiscard]] const T* data() const noexcept {
    return reinterpret_cast<const T*>(memory_.data() + map_.offset_bytes);
  }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return map_.size; }
  /// Returns the element at `index`, which must be less than `size()`.
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  /// Returns an iterator, which is a pointer, to the first element.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// Returns an iterator behind the last element.
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  /// Returns the distribution, as requested.
  [[nodiscard]] const D& distribution() const noexcept { return by_; }
  /// Returns the distribution as extents of base pages, with edges rounded to the page size used.
  [[nodiscard]] std::span<const extent> extents() const noexcept { return memory_.placed().asked; }
  /// Returns which elements are in which pages.
  [[nodiscard]] const element_map& elements() const noexcept { return map_; }
  /// Returns a number that changes with the extents; see `region::placement_number`.
  [[nodiscard]] std::uint64_t placement_number() const noexcept {
    return memory_.placement_number();
  }
  /// Returns how the kernel placed the array; `migrate` updates `asked` and `refused`.
  [[nodiscard]] const placement& placed() const noexcept { return memory_.placed(); }
  /// Returns where the pages are now, compared with the distribution.
  [[nodiscard]] nodewise::residency residency() const { return memory_.residency(); }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }
  /// Returns `residency()` as a picture of `columns` characters and a line of figures; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return nodewise::strip(memory_, columns);
  }
  /// Gives the array another distribution and migrates the pages in memory; contents and addresses
  /// stay the same. The result lists what the kernel refused.
  migration migrate(D by) {
    migration moved = memory_.migrate(by);
    by_ = std::move(by);
    return moved;
  }

 private:
  NODEWISE_NAMED_BY_CALLER array(std::size_t size, D by, array_options options, std::size_t offset)
      : by_(std::move(by)),
        memory_(detail::bytes_for(size, sizeof(T), offset), by_, {options.how, options.pages}),
        map_{offset, sizeof(T), memory_.placed().base_page_bytes, size} {}

  D by_;
  region memory_;
  element_map map_;
};

} // namespace nodewise::inline v0
