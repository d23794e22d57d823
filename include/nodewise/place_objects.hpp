// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Placed memory for `new T[n]`.
//
//     struct particle : nodewise::place_objects<particle> {
//       double position = 0, mass = 1;
//     };
//     const std::unique_ptr<particle[]> all(new particle[1 << 16]); // equal blocks over the nodes
//     all[0].position = 2;
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

#include <nodewise/memory_resource.hpp>

namespace nodewise::inline v0 {

/// A base class that gives `new T[n]` placed memory:
/// `struct particle : place_objects<particle> {...}`. The array is in equal blocks over the nodes,
/// or placed by the resource of `place_by`. Its constructors run in one thread, but policies
/// override first touch. Single objects, `new T`, are not placed. An object belongs to the page in
/// which it begins; `cache_aligned<T>` separates the cache lines of neighbours. Method: Hager and
/// Wellein, section 8.4.1, except that their operator new[] touches in parallel.
template <class T>
class place_objects {
 public:
  /// Sets the resource for all arrays of T; `resource` must outlive them. Call it while no array of
  /// T exists, because arrays are freed to the resource that is set at that time.
  static void place_by(std::pmr::memory_resource& resource) noexcept { resource_ = &resource; }

  /// Allocates from the resource. Throws what the resource throws: `error` if memory runs out.
  [[nodiscard]] static void* operator new[](std::size_t bytes) {
    return resource().allocate(bytes);
  }
  /// Returns the memory to the resource.
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
