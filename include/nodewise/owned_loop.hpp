// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loops over several arrays together, divided at the pages of the first array.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::array<float> a(1 << 20, teams.blocked()), b(1 << 20, teams.blocked());
//     teams.fill(b, 2.0F);
//     teams.for_each_owned(nodewise::over(a, b), [](std::span<float> x, std::span<float> y) {
//       for (std::size_t i = 0; i < x.size(); ++i) {
//         x[i] = 3 * y[i];
//       }
//     });
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nodewise/array.hpp>
#include <nodewise/error.hpp>
#include <nodewise/schedule.hpp>

namespace nodewise::inline v0 {

/// A type that a loop can run over: contiguous elements, and the owners of their pages.
template <class A>
concept owned_range = requires(A& a) {
  { *a.data() };
  { a.size() } -> std::convertible_to<std::size_t>;
  { a.extents() } -> std::convertible_to<std::span<const extent>>;
  { a.elements() } -> std::convertible_to<element_map>;
};

/// Returns the node that owns an element, by the array's extents; `unknown_node` if there is no
/// such element. Asks nothing of the kernel, so it is where the element should be.
template <owned_range A>
[[nodiscard]] node_id owner_of(A& array, std::size_t index) noexcept {
  const element_map map = array.elements();
  const std::span<const extent> extents = array.extents();
  const std::size_t page = (map.offset_bytes + index * map.element_bytes) / map.page_bytes;
  const auto found =
      std::ranges::partition_point(extents, [&](const extent& e) { return e.last_page <= page; });
  return index < array.size() && found != extents.end() ? found->owner : unknown_node;
}

/// Arrays of one length for one loop. The first array decides which worker gets which part. Each is
/// an `owned_range`.
template <class... A>
struct zip {
  static_assert(sizeof...(A) > 0, "a loop runs over one array or more");
  static_assert(
      (owned_range<A> && ...),
      "a loop runs over memory with owners: a nodewise::array, or for a std::vector and the "
      "like nodewise::owned_span(std::span(vector), distribution)");
  std::tuple<A&...> arrays;

  /// Returns the array whose pages decide which worker gets which part.
  [[nodiscard]] auto& first() const noexcept { return std::get<0>(arrays); }
};

/// The old name of `zip`.
template <class... A>
using together [[deprecated("use zip")]] = zip<A...>;

/// Combines the arrays of a loop: `for_each_owned(over(a, b, c), f)`.
template <class... A>
[[nodiscard]] zip<A...> over(A&... arrays) noexcept {
  return {std::tie(arrays...)};
}

namespace detail {

template <class A>
using element_of = std::remove_reference_t<decltype(*std::declval<A&>().data())>;

[[noreturn]] NODEWISE_API void refuse_lengths(std::size_t first, std::size_t other);

/// A loop's body: it takes one span for each array, and may take the worker and the first index.
template <class F, class... A>
concept loop_body = std::invocable<F&, const worker&, std::size_t, std::span<element_of<A>>...> ||
                    std::invocable<F&, std::size_t, std::span<element_of<A>>...> ||
                    std::invocable<F&, std::span<element_of<A>>...>;

/// Calls a loop's body with the arguments that it takes: `f(spans...)`, `f(first index, spans...)`
/// or `f(worker, first index, spans...)`.
template <class F, class... T>
decltype(auto) call_body(F& f, const worker& me, std::size_t first, std::span<T>... parts) {
  if constexpr (std::invocable<F&, const worker&, std::size_t, std::span<T>...>) {
    return f(me, first, parts...);
  } else if constexpr (std::invocable<F&, std::size_t, std::span<T>...>) {
    return f(first, parts...);
  } else {
    return f(parts...);
  }
}

template <class F, class... A>
using result_of_body =
    decltype(call_body(std::declval<F&>(), std::declval<const worker&>(), std::size_t{},
                       std::declval<std::span<element_of<A>>>()...));

/// A loop over arrays by pages; `part` does one chunk.
template <class... A>
class owned_loop {
 public:
  /// Throws `error` (usage) for arrays of different length.
  explicit owned_loop(zip<A...> over) : over_(over), map_(over.first().elements()) {
    std::apply(
        [this](A&... arrays) {
          for (const std::size_t size : {static_cast<std::size_t>(arrays.size())...}) {
            if (size != over_.first().size()) {
              refuse_lengths(over_.first().size(), size);
            }
          }
        },
        over_.arrays);
  }

  /// Calls the body for each run of the chunk, and adds to `count`.
  template <class F>
  void part(const page_lists& pages, const chunk& what, const worker& me, F&& f,
            loop_statistics& count) const {
    bool first = true;
    pages.for_runs(what.list, what.first, what.last, [&](const page_lists::run& run) {
      const bool local = run.home == me.team;
      if (std::exchange(first, false)) {
        ++(local ? count.chunks_local : count.chunks_stolen);
      }
      const index_range range =
          map_.template of_pages<first_element_bytes>(run.first_page, run.last_page);
      if (range.size() != 0) {
        (local ? count.bytes_local : count.bytes_stolen) += range.size() * element_bytes;
        call(range, me, f);
      }
    });
  }

 private:
  static constexpr std::size_t element_bytes = (sizeof(element_of<A>) + ...);
  static constexpr std::size_t first_element_bytes =
      sizeof(*std::declval<zip<A...>>().first().data());

  template <class F>
  void call(index_range range, const worker& me, F& f) const {
    std::apply(
        [&](A&... arrays) {
          call_body(f, me, range.first, std::span(arrays.data() + range.first, range.size())...);
        },
        over_.arrays);
  }

  zip<A...> over_;
  element_map map_; ///< of the first array
};

} // namespace detail

} // namespace nodewise::inline v0
