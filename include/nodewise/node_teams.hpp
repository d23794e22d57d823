// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One bound team of threads for each node, and loops that run on the node of their data. The
// threads come from <nodewise/openmp.hpp> or <nodewise/tbb.hpp>.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams; // a thread for each core
//     nodewise::array<double> a(1 << 20, teams.blocked());
//     teams.fill(a, 0.5);
//     const double sum = teams.reduce_owned(
//         a, 0.0,
//         [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
//         std::plus<>());
//     std::printf("%g\n", sum);
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nodewise/detail/first_exception.hpp>
#include <nodewise/detail/page_list_cache.hpp>
#include <nodewise/owned_loop.hpp>

namespace nodewise::inline v0 {

namespace detail {

/// Sets every element to `value`. memset uses the widest stores of the processor; a loop only those
/// that the program is compiled for.
template <class T>
void fill(std::span<T> elements, const T& value) {
  if constexpr (std::is_floating_point_v<T> ||
                (std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>)) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == bytes[0]; })) {
      std::memset(elements.data(), bytes[0], elements.size_bytes());
      return;
    }
  }
  std::ranges::fill(elements, value);
}

} // namespace detail

/// A node's team, as passed to the body of `on_each_node`.
template <class Runtime>
class node_team_ref {
 public:
  /// `on_each_node` makes these objects.
  node_team_ref(Runtime& runtime, std::size_t team) noexcept : runtime_(runtime), team_(team) {}

  /// Returns its node, processors and workers.
  [[nodiscard]] const node_team& info() const noexcept { return runtime_.threads().teams()[team_]; }
  /// Returns its node.
  [[nodiscard]] node_id node() const noexcept { return info().node; }
  /// Returns the number of its workers.
  [[nodiscard]] std::size_t size() const noexcept { return info().workers.size(); }
  /// Returns its position in `thread_map::teams`.
  [[nodiscard]] std::size_t number() const noexcept { return team_; }

  /// Calls `f(worker)` once for each worker of this node, on processors of this node.
  template <class F>
  void on_each_worker(F&& f) const {
    static_assert(std::invocable<F&, const worker&>,
                  "the body of on_each_worker takes the worker: f(const nodewise::worker&)");
    runtime_.run_team(team_, f);
  }

 private:
  Runtime& runtime_;
  std::size_t team_;
};

/// Teams of threads, one for each node and bound to its processors, and the loops that they run.
/// Which worker gets which pages does not depend on `Runtime`.
///
/// Run one loop at a time: calls from several threads are not synchronised. A loop throws the first
/// exception of its body, after all workers have ended.
template <class Runtime>
class basic_node_teams {
 public:
  /// Lays out the threads by `how`: by default `close`, one for each core. Throws `error` (usage)
  /// if no processor is allowed or a thread may run on several nodes.
  explicit basic_node_teams(const topology& where = topology::system(),
                            const layout_options& how = {})
      : runtime_(where, how) {}
  /// Makes the runtime from other arguments.
  template <class... Args>
  explicit basic_node_teams(std::in_place_t, Args&&... args)
      : runtime_(std::forward<Args>(args)...) {}

  /// Returns the workers and their nodes.
  [[nodiscard]] const thread_map& threads() const noexcept { return runtime_.threads(); }
  /// The old name of `threads()`.
  [[deprecated("use threads()")]] [[nodiscard]] const thread_map& who() const noexcept {
    return threads();
  }
  /// Returns sentences on what differs from the request, or was adopted from the runtime's
  /// settings.
  [[nodiscard]] std::span<const std::string> notes() const noexcept { return runtime_.notes(); }
  /// Returns a distribution with one block for each worker, on its node: the pages that the worker
  /// gets from `for_each_owned`.
  [[nodiscard]] nodewise::blocked blocked() const { return nodewise::blocked(threads().owners()); }

  /// Calls `f(worker)` once for each worker, on a processor of its node. Throws the first exception
  /// of `f`.
  template <class F>
  void on_each_worker(F&& f) {
    static_assert(std::invocable<F&, const worker&>,
                  "the body of on_each_worker takes the worker: f(const nodewise::worker&)");
    runtime_.run(f);
  }
  /// Calls `f(team)` once for each node, on a thread that may run on all processors of the team.
  /// For parallel work on the node, `f` calls `team.on_each_worker`.
  template <class F>
  void on_each_node(F&& f) {
    static_assert(std::invocable<F&, node_team_ref<Runtime>>,
                  "the body of on_each_node takes the node's team: f(auto team)");
    runtime_.run_nodes([&](std::size_t team) { f(node_team_ref<Runtime>(runtime_, team)); });
  }

  /// Calls `f(span)`, `f(first index, span)` or `f(worker, first index, span)`, whichever `f`
  /// takes, for the parts of an array until all are done; the schedule picks the worker of each
  /// part. With several arrays of one length, `over(a, b)`, `f` gets a span of each, and the first
  /// array decides which worker gets which part. Returns how much of the loop was local. Throws
  /// `error` (usage) for arrays of different length.
  template <class... A, class F>
  loop_statistics for_each_owned(zip<A...> arrays, F&& f, schedule how = schedule::owned()) {
    static_assert(
        detail::loop_body<F, A...>,
        "the body of for_each_owned takes f(std::span<T>), f(std::size_t first, "
        "std::span<T>) or f(const nodewise::worker&, std::size_t first, std::span<T>), with "
        "a span of its elements for each array");
    const detail::owned_loop<A...> loop(arrays);
    const auto pages = lists_.of(arrays.first(), threads());
    std::vector<cache_aligned<loop_statistics>> counts(threads().workers().size());
    hand_out(*pages, how, [&](const chunk& part, const worker& me) {
      loop.part(*pages, part, me, f, counts[me.number].value);
    });
    loop_statistics all;
    for (const auto& each : counts) {
      all += each.value;
    }
    return all;
  }
  template <class A, class F>
  loop_statistics for_each_owned(A& array, F&& f, schedule how = schedule::owned()) {
    return for_each_owned(over(array), std::forward<F>(f), how);
  }

  /// Combines the results of `f` for all parts; `f` is called as in `for_each_owned`. Each worker
  /// starts with `zero` and computes `combine(so far, f(span))`; then the workers' results are
  /// combined in the order of the workers. Under `schedule::owned` the same arrays and teams
  /// therefore give the same bits every time. Throws `error` (usage) for arrays of different
  /// length.
  template <class R, class... A, class F, class Combine>
  [[nodiscard]] R reduce_owned(zip<A...> arrays, R zero, F&& f, Combine combine,
                               schedule how = schedule::owned()) {
    static_assert(
        detail::loop_body<F, A...>,
        "the body of reduce_owned takes f(std::span<T>), f(std::size_t first, "
        "std::span<T>) or f(const nodewise::worker&, std::size_t first, std::span<T>), with "
        "a span of its elements for each array");
    static_assert(std::is_invocable_r_v<R, Combine&, R&, detail::result_of_body<F, A...>>,
                  "the body of reduce_owned returns what combine(so far, body's result) takes");
    std::vector<cache_aligned<R>> partial(threads().workers().size(), {zero});
    for_each_owned(
        arrays,
        [&](const worker& me, std::size_t first, std::span<detail::element_of<A>>... parts) {
          R& mine = partial[me.number].value;
          mine = combine(mine, detail::call_body(f, me, first, parts...));
        },
        how);
    R all = std::move(zero);
    for (cache_aligned<R>& each : partial) {
      all = combine(std::move(all), std::move(each.value));
    }
    return all;
  }
  template <class R, class A, class F, class Combine>
  [[nodiscard]] R reduce_owned(A& array, R zero, F&& f, Combine combine,
                               schedule how = schedule::owned()) {
    return reduce_owned(over(array), std::move(zero), std::forward<F>(f), std::move(combine), how);
  }

  /// Touches every page of the arrays, each by a worker of its owner, so that all are in memory.
  /// Contents do not change. Throws `error` (system) if memory runs out.
  template <owned_range... A>
  void first_touch(A&... arrays) {
    constexpr std::size_t few_calls = std::size_t{16}
                                      << 20; // each takes the kernel's lock of the map
    (in_pieces(arrays, few_calls, [](auto) {}), ...);
  }
  /// Sets every element to `value`, each by a worker of its owner. Up to twice as fast as a loop on
  /// untouched memory: it allocates as many pages at a time as fit in a cache, and writes them
  /// while they are in the cache. Throws `error` (system) if memory runs out.
  template <owned_range A>
  void fill(A& array, const detail::element_of<A>& value) {
    constexpr std::size_t in_cache = std::size_t{128} << 10;
    in_pieces(array, in_cache, [&value](auto part) { detail::fill(part, value); });
  }

  /// Returns the runtime: the threads and their settings.
  [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }

 private:
  template <class Body>
  void hand_out(const page_lists& pages, schedule how, Body&& body) {
    if (how.kind == schedule_kind::owned) {
      runtime_.run([&](const worker& me) { body(owned_part(pages, threads(), me), me); });
      return;
    }
    chunk_queue queue(pages, threads(), how);
    runtime_.run([&](const worker& me) {
      while (const auto next = queue.next(me)) {
        body(*next, me);
      }
    });
  }

  template <owned_range A, class F>
  void in_pieces(A& array, std::size_t piece_bytes, F f) {
    using element = detail::element_of<A>;
    if constexpr (requires { array.placed().granule_bytes; }) {
      // The kernel allocates a whole huge page in any case.
      piece_bytes = std::max(piece_bytes, array.placed().granule_bytes);
    }
    const std::size_t piece = std::max<std::size_t>(piece_bytes / sizeof(element), 1);
    for_each_owned(array, [&](std::span<element> part) {
      for (std::size_t at = 0; at < part.size(); at += piece) {
        const auto some = part.subspan(at, std::min(piece, part.size() - at));
        populate(std::as_writable_bytes(some));
        f(some);
      }
    });
  }

  Runtime runtime_;
  detail::page_list_cache lists_;
};

} // namespace nodewise::inline v0
