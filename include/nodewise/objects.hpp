// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An array of objects with constructors or members that allocate. The workers that own the objects
// construct them.
//
//     #include <nodewise/openmp.hpp>
//
//     struct station {
//       std::pmr::vector<float> samples;
//     };
//     const auto make = [](std::size_t, std::pmr::memory_resource* of_owner) {
//       return station{std::pmr::vector<float>(100, of_owner)};
//     };
//     nodewise::openmp_teams teams;
//     nodewise::objects<station> all(teams, 1000, teams.blocked(), make);
//     std::printf("%zu stations, %zu samples each\n", all.size(), all[0].samples.size());
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/memory_resource.hpp>
#include <nodewise/node_teams.hpp>

namespace nodewise::inline v0 {

/// `size` contiguous objects. A worker of the owner's node constructs each object, so the memory
/// that the constructor allocates and touches is on that node, too. Loops run over them as over an
/// `array`. Movable; the objects keep their addresses.
template <class T, distribution D = blocked>
class objects {
 public:
  using value_type = T;

  /// Constructs object k from `make(k)`, or from `make(k, resource)` if `make` takes that: a memory
  /// resource of the owner's node, for members with polymorphic allocators. Throws `error` (usage)
  /// for a size of 0 or too many, `error` (system) if memory runs out, and what `make` throws; the
  /// objects made so far are destroyed then.
  template <class Teams, class Make>
  NODEWISE_NAMED_BY_CALLER objects(Teams& teams, std::size_t size, const D& by, Make&& make)
      : objects(teams, size,
                region(detail::bytes_for(size, sizeof(T), 0), by,
                       {strictness::prefer, page_size::base}),
                make) {}

  objects(objects&& other) noexcept
      : map_(std::exchange(other.map_, {})), memory_(std::move(other.memory_)) {}
  objects& operator=(objects&& other) noexcept {
    if (this != &other) {
      std::destroy_n(data(), size());
      map_ = std::exchange(other.map_, {});
      memory_ = std::move(other.memory_);
    }
    return *this;
  }
  objects(const objects&) = delete;
  objects& operator=(const objects&) = delete;
  /// Destroys the objects one by one, on the calling thread.
  ~objects() { std::destroy_n(data(), size()); }

  /// Returns a pointer to the first object.
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const noexcept {
    return reinterpret_cast<const T*>(memory_.data());
  }
  /// Returns the number of objects.
  [[nodiscard]] std::size_t size() const noexcept { return map_.size; }
  /// Returns the object at `index`, which must be less than `size()`.
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  /// Returns an iterator, which is a pointer, to the first object.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// Returns an iterator behind the last object.
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  /// Returns the owners of the pages, in base pages of the range.
  [[nodiscard]] std::span<const extent> extents() const noexcept { return memory_.placed().asked; }
  /// Returns which objects are in which pages.
  [[nodiscard]] const element_map& elements() const noexcept { return map_; }
  /// Returns a number that changes with the extents; see `region::placement_number`.
  [[nodiscard]] std::uint64_t placement_number() const noexcept {
    return memory_.placement_number();
  }
  /// Returns where the pages of the objects themselves are, compared with their owners.
  [[nodiscard]] nodewise::residency residency() const { return memory_.residency(); }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }
  /// Returns `residency()` as a picture of `columns` characters and a line of figures; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return nodewise::strip(memory_, columns);
  }

 private:
  template <class Teams, class Make>
  objects(Teams& teams, std::size_t size, region memory, Make& make)
      : map_{0, sizeof(T), memory.placed().base_page_bytes, size}, memory_(std::move(memory)) {
    std::vector<cache_aligned<std::vector<index_range>>> made(teams.threads().workers().size());
    try {
      const page_lists pages(extents(), teams.threads());
      teams.on_each_worker([&](const worker& me) {
        const chunk part = owned_part(pages, teams.threads(), me);
        pages.for_runs(part.list, part.first, part.last, [&](const page_lists::run& run) {
          construct(map_.of_pages(run.first_page, run.last_page), me, make, made[me.number].value);
        });
      });
    } catch (...) {
      for (const auto& each : made) {
        for (const index_range& range : each.value) {
          std::destroy(data() + range.first, data() + range.last);
        }
      }
      throw;
    }
  }

  template <class Make>
  void construct(index_range range, const worker& me, Make& make, std::vector<index_range>& made) {
    made.push_back({range.first, range.first});
    for (std::size_t& k = made.back().last; k < range.last; ++k) {
      if constexpr (std::invocable<Make&, std::size_t, std::pmr::memory_resource*>) {
        ::new (static_cast<void*>(data() + k)) T(make(k, &resource_on(me.node)));
      } else {
        ::new (static_cast<void*>(data() + k)) T(make(k));
      }
    }
  }

  element_map map_;
  region memory_;
};

} // namespace nodewise::inline v0
