// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Placed memory for `new T[n]`.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

#include <nodewise/memory_resource.hpp>

namespace nodewise::inline v0 {

/// A base that gives `new T[n]` placed memory: `struct particle : place_objects<particle> {...}`.
/// The array lies in equal blocks over the nodes, or wherever `place_by` says, though its
/// constructors run in one thread: the policy beats the touch. Single objects, `new T`, are as
/// ever. An object belongs to the page it begins in; `cache_aligned<T>` keeps neighbours' lines
/// apart. Method: Hager and Wellein, section 8.4.1, where operator new[] touches in parallel
/// instead.
template <class T>
class place_objects {
 public:
  /// For all arrays of T that are made from now on; `resource` must outlive them. To be called
  /// while no thread makes or frees one.
  static void place_by(std::pmr::memory_resource& resource) noexcept { resource_ = &resource; }

  /// Throws what the resource throws: `error` where memory runs out.
  [[nodiscard]] static void* operator new[](std::size_t bytes) {
    return resource().allocate(bytes);
  }
  /// Gives the memory back to the resource.
  static void operator delete[](void* start, std::size_t bytes) noexcept {
    resource().deallocate(start, bytes);
  }

 protected:
  place_objects() = default;
  ~place_objects() = default;
  place_objects(const place_objects&) = default;
  place_objects& operator=(const place_objects&) = default;

 private:
  [[nodiscard]] static std::pmr::memory_resource& resource() {
    return resource_ == nullptr ? resource_blocked() : *resource_;
  }

  static inline std::pmr::memory_resource* resource_ = nullptr;
};

} // namespace nodewise::inline v0
