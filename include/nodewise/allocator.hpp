// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Placed memory for standard containers.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <nodewise/distribution.hpp>
#include <nodewise/placement.hpp>
#include <nodewise/region.hpp>

namespace nodewise::inline v0 {

/// Placed memory for standard containers: `std::vector<double, allocator<double>> v(n, by)`.
///
/// - Elements without a value are left as they are: `v.resize(n)` of numbers touches no page (they
///   are zero in fresh memory), so the loop that fills them decides nothing, and costs nothing
///   twice.
/// - Memory is placed **by capacity**, since that is what a container asks for. A vector that grew
///   by `push_back` holds up to twice as much as it needs, and its last blocks are empty: `reserve`
///   what you need before, or call `place_by_size` afterwards.
/// - Requests below 64 KiB come from `operator new`: they are too small to have blocks.
/// - Memory goes back to the kernel when it is freed and to no other owner.
///
/// Allocators with a distribution of their own are unequal unless copied from one another.
template <class T, distribution D = blocked>
class allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;
  /// The same for elements of another type.
  template <class U>
  struct rebind {
    using other = allocator<U, D>;
  };

  /// For containers whose pages `by` gives to nodes.
  explicit allocator(D by, page_size pages = page_size::automatic)
      : by_(std::make_shared<const D>(std::move(by))), pages_(pages) {}
  /// The same distribution for elements of another type.
  template <class U>
  allocator(const allocator<U, D>& other) noexcept : by_(other.by_), pages_(other.pages_) {}

  /// Memory for so many elements. Throws std::bad_alloc, or `error` where memory for policies or
  /// mappings runs out.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    const std::size_t bytes = count * sizeof(T);
    if (bytes < least_bytes) {
      return std::allocator<T>().allocate(count);
    }
    region memory(bytes, *by_, {strictness::prefer, pages_});
    return reinterpret_cast<T*>(memory.detach());
  }
  /// Gives back what `allocate` gave, with the same count.
  void deallocate(T* start, std::size_t count) noexcept {
    if (count * sizeof(T) < least_bytes) {
      std::allocator<T>().deallocate(start, count);
    } else {
      unmap_region(start, count * sizeof(T));
    }
  }
  /// Without a value: default-initialised, which leaves numbers alone.
  template <class U>
  void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(at)) U;
  }
  /// With a value, as any allocator.
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }

  /// What pages are placed by.
  [[nodiscard]] const D& distribution() const noexcept { return *by_; }
  friend bool operator==(const allocator& a, const allocator& b) noexcept { return a.by_ == b.by_; }

 private:
  template <class, nodewise::distribution>
  friend class allocator;

  static constexpr std::size_t least_bytes = std::size_t{64} << 10;

  std::shared_ptr<const D> by_;
  page_size pages_;
};

/// Gives the elements that a container holds the distribution, its spare capacity none: what is in
/// memory moves, contents and addresses stay. For vectors that grew. Answers what the kernel did.
/// Throws `error` (system) if memory for policies runs out.
template <class Container, distribution D>
placement place_by_size(Container& of, const D& by) {
  return place(std::as_writable_bytes(std::span(of.data(), of.size())), by);
}

} // namespace nodewise::inline v0
