// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A value for each worker, in memory of the worker's node and with cache lines of its own.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::array<int> a(1 << 20, teams.blocked());
//     nodewise::per_thread<std::size_t> done(teams.threads());
//     teams.for_each_owned(a, [&](const nodewise::worker& me, std::size_t, std::span<int> part) {
//       done[me] += part.size();
//     });
//     std::printf("%zu\n", done.reduce(std::size_t{0}, std::plus<>()));
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <nodewise/detail/slots.hpp>
#include <nodewise/strip.hpp>

namespace nodewise::inline v0 {

/// A value for each worker, on pages of the worker's node and with cache lines of its own, so
/// workers that write their values do not take lines from one another. Movable.
template <class T>
class per_thread {
 public:
  /// Makes each value as `T(args...)`. Throws `error` (system) if memory runs out, and what T
  /// throws.
  template <class... Args>
  explicit per_thread(const thread_map& threads, const Args&... args)
      : values_(detail::slots_of_workers(threads, sizeof(T)), args...) {}

  /// Returns the number of values.
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  /// Returns the value of the worker with number `worker`.
  [[nodiscard]] T& operator[](std::size_t worker) noexcept { return values_[worker]; }
  [[nodiscard]] const T& operator[](std::size_t worker) const noexcept { return values_[worker]; }
  /// Returns the value of a worker.
  [[nodiscard]] T& operator[](const worker& me) noexcept { return values_[me.number]; }
  [[nodiscard]] const T& operator[](const worker& me) const noexcept { return values_[me.number]; }

  /// Returns `combine(combine(zero, first), second)` and so on, in the order of the workers.
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
