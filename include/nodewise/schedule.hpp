// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Schedules: which worker does which pages of a loop, and the lock-free queue that hands out
// chunks. Nothing here starts a thread, so schedules can be simulated.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     nodewise::array<double> a(1 << 20, teams.blocked());
//     const nodewise::loop_statistics done = teams.for_each_owned(
//         a, [](std::span<double> part) { std::ranges::fill(part, 1.0); },
//         nodewise::schedule::local_first());
//     std::puts(nodewise::to_string(done).c_str());
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/cache_aligned.hpp>
#include <nodewise/distribution.hpp>
#include <nodewise/thread_map.hpp>

namespace nodewise::inline v0 {

/// How the pages of a loop are handed out.
enum class schedule_kind {
  owned,       ///< each worker gets an equal part of its node's pages, fixed before the loop runs
  local_first, ///< chunks of the worker's own node's pages, then of the nearest node with any left
  guided,      ///< as local_first, but chunks shrink with the pages left: first half a fair share
  any,         ///< chunks in address order, for any worker, as `schedule(dynamic)`
};

/// Whether a worker takes pages, or tasks, of another node when its own node has none left.
enum class steal {
  nearest,               ///< yes: of the nearest node that has any left
  never,                 ///< no: the node's workers wait
  any,                   ///< yes: tasks of any worker, far or near; loops do as `nearest`
  local_first = nearest, ///< the name that fits tasks: own core, own node, nearest node, any
};

/// A schedule and its parameters. Sizes are in base pages.
struct schedule {
  schedule_kind kind = schedule_kind::owned;
  /// Pages in a chunk (guided: in the smallest); 0: a 32nd of a worker's fair share.
  std::size_t chunk_pages = 0;
  steal across = steal::nearest;

  /// Each worker gets an equal part of its node's pages.
  [[nodiscard]] static constexpr schedule owned() noexcept { return {}; }
  /// Workers take chunks of their own node's pages, then of the nearest node that has any left.
  [[nodiscard]] static constexpr schedule local_first(std::size_t chunk_pages = 0,
                                                      steal across = steal::nearest) noexcept {
    return {schedule_kind::local_first, chunk_pages, across};
  }
  /// The same with chunks that shrink from half a fair share to `least_pages`.
  [[nodiscard]] static constexpr schedule guided(std::size_t least_pages = 0,
                                                 steal across = steal::nearest) noexcept {
    return {schedule_kind::guided, least_pages, across};
  }
  /// Any worker takes the next chunk, in the order of addresses.
  [[nodiscard]] static constexpr schedule any(std::size_t chunk_pages = 0) noexcept {
    return {schedule_kind::any, chunk_pages, steal::nearest};
  }
};

/// The pages of an array, in lists by team: each page is on the list of its owner's team, or of the
/// nearest team if its owner has no workers. One more list has all pages, in the order of
/// addresses.
class NODEWISE_API page_lists {
 public:
  /// Pages first_page..last_page, half-open, that belong to one team, `home`.
  struct run {
    std::size_t first_page = 0;
    std::size_t last_page = 0;
    std::size_t home = 0;
    std::size_t before = 0; ///< pages of the list before this run
  };

  /// Makes the lists from an array's extents: base pages, ascending, without gaps.
  page_lists(std::span<const extent> pages, const thread_map& threads);

  /// Returns the number of teams; list k is that of team k.
  [[nodiscard]] std::size_t teams() const noexcept { return lists_.size() - 1; }
  /// Returns the number of the list of all pages.
  [[nodiscard]] std::size_t everything() const noexcept { return lists_.size() - 1; }
  /// Returns the number of pages on a list.
  [[nodiscard]] std::size_t pages(std::size_t list) const noexcept;

  /// Calls `f(run)` for each run in positions first..last of a list, cut to these positions.
  template <class F>
  void for_runs(std::size_t list, std::size_t first, std::size_t last, F&& f) const {
    for (std::size_t at = lists_[list].size() == 1 ? 0 : find(list, first); first < last; ++at) {
      const run& whole = lists_[list][at];
      const std::size_t begin = whole.first_page + (first - whole.before);
      const std::size_t pages = std::min(last - first, whole.last_page - begin);
      f(run{begin, begin + pages, whole.home, first});
      first += pages;
    }
  }

 private:
  [[nodiscard]] std::size_t find(std::size_t list, std::size_t position) const noexcept;
  void append(std::size_t list, std::size_t first_page, std::size_t last_page, std::size_t home);

  std::vector<std::vector<run>> lists_;
};

/// Positions first..last of a list, half-open.
struct chunk {
  std::size_t list = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Returns the part of its team's list that a worker does under `schedule_kind::owned`.
[[nodiscard]] NODEWISE_API chunk owned_part(const page_lists& pages, const thread_map& threads,
                                            const worker& me) noexcept;

/// Hands out the chunks of one loop. `next` is lock-free and may be called by all workers at once;
/// each page is handed out exactly once. The lists and the thread_map must outlive the queue. If
/// many chunks are left, a worker takes up to 32 of its own node's at once, but no more than a 64th
/// of its fair share of those left.
class NODEWISE_API chunk_queue {
 public:
  /// Divides the lists into chunks by the schedule `how`.
  chunk_queue(const page_lists& pages, const thread_map& threads, schedule how);

  /// Returns the next chunk for this worker; nullopt when none is left that it may take.
  [[nodiscard]] std::optional<chunk> next(const worker& me) noexcept {
    hand& mine = hands_[me.number].value;
    if (!mine.any()) {
      mine = take(me);
      if (!mine.any()) {
        return std::nullopt;
      }
    }
    const std::size_t last = std::min(mine.first + mine.step, mine.last);
    return chunk{mine.list, std::exchange(mine.first, last), last};
  }

 private:
  /// The list's own workers take from the front, in the order of memory; others take from the back,
  /// the pages that the owners would reach last. One atomic addition takes a chunk. The fields that
  /// are mostly read have a cache line of their own, because each addition takes a line away.
  struct list_state {
    /// Guided: pages. Else chunks: those from the front in the lower half, those from the back in
    /// the upper.
    cache_aligned<std::atomic<std::uint64_t>> taken;
    std::atomic<bool> used_up = false;
    std::size_t pages = 0;
    std::size_t chunks = 0;
    std::size_t workers = 1; ///< of the list's own team
  };
  /// Chunks of `step` pages that a worker has taken and not begun.
  struct hand {
    std::size_t list = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t step = 0;

    [[nodiscard]] bool any() const noexcept { return first != last; }
  };
  enum class from { front, back };

  [[nodiscard]] std::size_t left(std::size_t list) const noexcept;
  [[nodiscard]] std::size_t at_a_time(std::size_t list) const noexcept;
  [[nodiscard]] hand take(const worker& me) noexcept;
  [[nodiscard]] hand take(std::size_t list, from end) noexcept;
  [[nodiscard]] hand take_equal(std::size_t list, from end) noexcept;
  [[nodiscard]] hand take_guided(std::size_t list, std::size_t sharers) noexcept;
  [[nodiscard]] hand steal_from(const std::vector<std::size_t>& group) noexcept;

  const thread_map& threads_;
  schedule how_;
  std::size_t all_ = 0; ///< the list of all pages
  std::size_t chunk_pages_ = 1;
  std::vector<list_state> lists_;
  std::vector<cache_aligned<hand>> hands_; ///< by worker
};

/// How much of a loop ran on the pages' own nodes. Local: done by a worker of the page's home team;
/// stolen: done by another worker. Chunks with pages of several homes count by their first page.
struct loop_statistics {
  std::uint64_t chunks_local = 0;
  std::uint64_t chunks_stolen = 0;
  std::uint64_t bytes_local = 0;
  std::uint64_t bytes_stolen = 0;

  /// Adds the statistics of another loop.
  loop_statistics& operator+=(const loop_statistics& more) noexcept {
    chunks_local += more.chunks_local;
    chunks_stolen += more.chunks_stolen;
    bytes_local += more.bytes_local;
    bytes_stolen += more.bytes_stolen;
    return *this;
  }
  /// Returns the local share of the bytes, 0..1; nullopt if there were none.
  [[nodiscard]] std::optional<double> locality() const noexcept {
    const std::uint64_t all = bytes_local + bytes_stolen;
    return all == 0 ? std::nullopt
                    : std::optional(static_cast<double>(bytes_local) / static_cast<double>(all));
  }
  friend bool operator==(const loop_statistics&, const loop_statistics&) = default;
};

/// Returns the statistics as text: "64 chunks, 3 stolen; 96.1 % of 24.0 MiB at home".
[[nodiscard]] NODEWISE_API std::string to_string(const loop_statistics& of);

/// The old name of `loop_statistics`.
using tally [[deprecated("use loop_statistics")]] = loop_statistics;

} // namespace nodewise::inline v0
