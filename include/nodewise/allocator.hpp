// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An allocator that gives standard containers placed memory.
//
//     #include <nodewise/openmp.hpp>
//     #include <nodewise/owned_span.hpp>
//
//     nodewise::openmp_teams teams;
//     const nodewise::allocator<double> in_blocks(teams.blocked());
//     std::vector<double, nodewise::allocator<double>> v(1 << 20, in_blocks); // touches no page
//     nodewise::owned_span parts(v, teams.blocked());
//     teams.fill(parts, 1.0); // each part by a thread of its node
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <nodewise/region.hpp>

namespace nodewise::inline v0 {

/// An allocator of placed memory: `std::vector<double, allocator<double>> v(n, by)`.
///
/// - Elements without a value are not initialised: `v.resize(n)` of numbers touches no page (they
///   are zero in fresh memory). The elements are therefore written only once, and the loop that
///   fills them does not decide where pages are.
/// - Memory is placed **by capacity**, because containers allocate their capacity. A vector that
///   grew by `push_back` holds up to twice as much as it needs, and its last blocks are empty:
///   `reserve` what you need before, or call `place_by_size` afterwards.
/// - Requests below 64 KiB come from `operator new`: they are too small to have blocks.
/// - Freed memory returns to the kernel and is not pooled for another owner.
///
/// Allocators compare equal only if one was copied from the other.
template <class T, distribution D = blocked>
class allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;
  /// The same allocator for elements of another type.
  template <class U>
  struct rebind {
    using other = allocator<U, D>;
  };

  /// Makes an allocator that places memory by `by`.
  explicit allocator(D by, page_size pages = page_size::automatic)
      : by_(std::make_shared<const D>(std::move(by))), pages_(pages) {}
  /// Uses the same distribution for elements of another type.
  template <class U>
  allocator(const allocator<U, D>& other) noexcept : by_(other.by_), pages_(other.pages_) {}

  /// Allocates memory for `count` elements. Throws std::bad_alloc, or `error` (system) if memory
  /// for policies or mappings runs out.
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
  /// Frees memory from `allocate`; `count` must be the same.
  void deallocate(T* start, std::size_t count) noexcept {
    if (count * sizeof(T) < least_bytes) {
      std::allocator<T>().deallocate(start, count);
    } else {
      unmap_region(start, count * sizeof(T));
    }
  }
  /// Default-initialises an element, which leaves numbers untouched.
  template <class U>
  void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(at)) U;
  }
  /// Constructs an element from arguments, as any allocator does.
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    std::construct_at(at, std::forward<Args>(args)...);
  }

  /// Returns the distribution by which memory is placed.
  [[nodiscard]] const D& distribution() const noexcept { return *by_; }
  friend bool operator==(const allocator& a, const allocator& b) noexcept { return a.by_ == b.by_; }

 private:
  template <class, nodewise::distribution>
  friend class allocator;

  static constexpr std::size_t least_bytes = std::size_t{64} << 10;

  std::shared_ptr<const D> by_;
  page_size pages_;
};

/// Places the elements of a container by a distribution, but not its spare capacity. Pages in
/// memory are moved; contents and addresses stay the same. Use it for vectors that grew. Returns
/// how the kernel placed the elements. Throws `error` (system) if memory for policies runs out.
template <class Container, distribution D>
placement place_by_size(Container& of, const D& by) {
  return place(std::as_writable_bytes(std::span(of.data(), of.size())), by);
}

} // namespace nodewise::inline v0
