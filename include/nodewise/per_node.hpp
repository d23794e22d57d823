// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A value for each node, in memory of that node.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::per_node<std::atomic<int>> started(teams.threads());
//     teams.on_each_worker([&](const nodewise::worker& me) { ++started[me]; });
//     for (std::size_t k = 0; k < started.size(); ++k) {
//       const int node = nodewise::to_int(teams.threads().teams()[k].node);
//       std::printf("node %d: %d workers\n", node, started[k].load());
//     }
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <nodewise/detail/slots.hpp>
#include <nodewise/strip.hpp>

namespace nodewise::inline v0 {

/// A value for each node that has workers, on pages of that node: a counter, a queue, a lock.
/// Memory that a value allocates is not placed; use `resource_on` for it. Movable.
template <class T>
class per_node {
 public:
  /// Makes each value as `T(args...)`. Throws `error` (system) if memory runs out, and what T
  /// throws.
  template <class... Args>
  explicit per_node(const thread_map& threads, const Args&... args)
      : values_(detail::slots_of_teams(threads, sizeof(T)), args...) {}

  /// Returns the number of values.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  /// Returns the value of the team at position `team` in `thread_map::teams`.
  [[nodiscard]] T& operator[](std::size_t team) noexcept { return values_[team]; }
  [[nodiscard]] const T& operator[](std::size_t team) const noexcept { return values_[team]; }
  /// Returns the value of a worker's node.
  [[nodiscard]] T& operator[](const worker& me) noexcept { return values_[me.team]; }
  [[nodiscard]] const T& operator[](const worker& me) const noexcept { return values_[me.team]; }

  /// Returns `combine(combine(zero, first), second)` and so on, in the order of the nodes.
  template <class R, class Combine>
  [[nodiscard]] R reduce(R zero, Combine combine) const {
    for (std::size_t k = 0; k < size(); ++k) {
      zero = combine(std::move(zero), values_[k]);
    }
    return zero;
  }

  /// Returns where the pages are now, compared with their owners.
  [[nodiscard]] nodewise::residency residency() const { return values_.memory().residency(); }
  /// The old name of `residency()`.
  [[deprecated("use residency()")]] [[nodiscard]] nodewise::residency where() const {
    return residency();
  }
  /// Returns `residency()` as a picture of `columns` characters and a line of figures; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return nodewise::strip(values_.memory(), columns);
  }

 private:
  detail::slots<T> values_;
};

} // namespace nodewise::inline v0
