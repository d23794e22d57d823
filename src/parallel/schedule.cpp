// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What loops over pages consist of: the lists of pages and their cache, the queue that hands out
// chunks, and the statistics.
#include <nodewise/detail/page_list_cache.hpp>

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include <nodewise/arithmetic.hpp>
#include <nodewise/owned_loop.hpp>

namespace nodewise::inline v0 {

namespace {

/// At the end of a loop each worker waits for at most one chunk of another worker: 1/32 of its own
/// work.
constexpr std::size_t chunks_per_worker = 32;

/// A worker takes n chunks at once only if at least this many times n are left for each worker of
/// the list's team.
constexpr std::size_t chunks_left_for_each_taken = 64;
constexpr std::size_t most_at_a_time = 32;

/// Each count of chunks has half a word; requests that find no chunk left are counted, too.
constexpr std::size_t most_chunks = std::size_t{1} << 31;
constexpr std::uint64_t one_from_front = 1;
constexpr std::uint64_t one_from_back = std::uint64_t{1} << 32;

struct both_ends {
  std::size_t front = 0;
  std::size_t back = 0;
};

both_ends split(std::uint64_t taken) noexcept {
  return {static_cast<std::size_t>(taken % one_from_back),
          static_cast<std::size_t>(taken / one_from_back)};
}

} // namespace

page_lists::page_lists(std::span<const extent> pages, const thread_map& threads)
    : lists_(threads.teams().size() + 1) {
  struct homes {
    std::vector<std::size_t> teams;
    std::size_t turn = 0; ///< short extents of a node without workers go to its teams in turn
  };
  std::map<int, homes> of_node;
  for (const extent& e : pages) {
    homes& near = of_node[to_int(e.owner)];
    if (near.teams.empty()) {
      near.teams = threads.nearest_to(e.owner);
    }
    const std::size_t count = near.teams.size();
    for (std::size_t part = 0; part < count; ++part) {
      const auto cut = arithmetic::blocked(part, e.pages(), count);
      if (cut.size() != 0) {
        const std::size_t team = near.teams[(near.turn + part) % count];
        append(team, e.first_page + cut.first, e.first_page + cut.last, team);
        append(everything(), e.first_page + cut.first, e.first_page + cut.last, team);
      }
    }
    near.turn = (near.turn + 1) % count;
  }
}

void page_lists::append(std::size_t list, std::size_t first_page, std::size_t last_page,
                        std::size_t home) {
  std::vector<run>& runs = lists_[list];
  if (!runs.empty() && runs.back().last_page == first_page && runs.back().home == home) {
    runs.back().last_page = last_page;
    return;
  }
  runs.push_back({first_page, last_page, home, pages(list)});
}

std::size_t page_lists::pages(std::size_t list) const noexcept {
  const std::vector<run>& runs = lists_[list];
  return runs.empty() ? 0 : runs.back().before + runs.back().last_page - runs.back().first_page;
}

std::size_t page_lists::find(std::size_t list, std::size_t position) const noexcept {
  const std::vector<run>& runs = lists_[list];
  const auto after = std::ranges::upper_bound(runs, position, {}, &run::before);
  return after == runs.begin() ? 0 : static_cast<std::size_t>(after - runs.begin()) - 1;
}

chunk owned_part(const page_lists& pages, const thread_map& threads, const worker& me) noexcept {
  const auto part = arithmetic::blocked(me.in_team, pages.pages(me.team),
                                        threads.teams()[me.team].workers.size());
  return {me.team, part.first, part.last};
}

chunk_queue::chunk_queue(const page_lists& pages, const thread_map& threads, schedule how)
    : threads_(threads), how_(how), all_(pages.everything()), lists_(pages.everything() + 1),
      hands_(threads.workers().size()) {
  const std::size_t workers = std::max<std::size_t>(threads.workers().size(), 1);
  const std::size_t fair = pages.pages(all_) / workers;
  chunk_pages_ =
      how.chunk_pages != 0 ? how.chunk_pages : std::max<std::size_t>(fair / chunks_per_worker, 1);
  chunk_pages_ = std::max(chunk_pages_, pages.pages(all_) / most_chunks + 1);
  for (std::size_t list = 0; list < lists_.size(); ++list) {
    lists_[list].pages = pages.pages(list);
    lists_[list].chunks = (lists_[list].pages + chunk_pages_ - 1) / chunk_pages_;
    lists_[list].workers = list == all_ ? workers : threads.teams()[list].workers.size();
  }
}

/// Chunks that a worker takes at once from its own node's list. With very many left, it takes many,
/// so that handing them out costs little; the last chunks still balance uneven work.
std::size_t chunk_queue::at_a_time(std::size_t list) const noexcept {
  const std::size_t share = left(list) / (chunks_left_for_each_taken * lists_[list].workers);
  return std::clamp<std::size_t>(share, 1, most_at_a_time);
}

chunk_queue::hand chunk_queue::take_equal(std::size_t list, from end) noexcept {
  list_state& state = lists_[list];
  // Checked first: a loop's workers return again and again to a list that is used up.
  if (state.used_up.load(std::memory_order_relaxed)) {
    return {};
  }
  const bool own = end == from::front && how_.kind == schedule_kind::local_first;
  const std::size_t wanted = own ? at_a_time(list) : 1;
  const auto before = split(state.taken.value.fetch_add(
      wanted * (end == from::front ? one_from_front : one_from_back), std::memory_order_relaxed));
  // No more chunks are handed out than there are, so the two ends never overlap.
  const std::size_t taken = before.front + before.back;
  if (taken >= state.chunks) {
    state.used_up.store(true, std::memory_order_relaxed);
    return {};
  }
  const std::size_t got = std::min(wanted, state.chunks - taken);
  const std::size_t number = end == from::front ? before.front : state.chunks - 1 - before.back;
  return {list, number * chunk_pages_, std::min((number + got) * chunk_pages_, state.pages),
          chunk_pages_};
}

chunk_queue::hand chunk_queue::take_guided(std::size_t list, std::size_t sharers) noexcept {
  list_state& state = lists_[list];
  std::uint64_t first = state.taken.value.load(std::memory_order_relaxed);
  while (first < state.pages) {
    const std::size_t left = state.pages - first;
    const std::size_t pages = std::min(std::max(left / (2 * sharers), chunk_pages_), left);
    if (state.taken.value.compare_exchange_weak(first, first + pages, std::memory_order_relaxed)) {
      return {list, first, first + pages, pages};
    }
  }
  return {};
}

chunk_queue::hand chunk_queue::take(std::size_t list, from end) noexcept {
  if (how_.kind != schedule_kind::guided) {
    return take_equal(list, end);
  }
  // Once workers of other teams take from a list, any worker may be next.
  return take_guided(list, end == from::front ? lists_[list].workers : threads_.workers().size());
}

chunk_queue::hand chunk_queue::take(const worker& me) noexcept {
  if (how_.kind == schedule_kind::any) {
    return take(all_, from::front);
  }
  const hand own = take(me.team, from::front);
  if (own.any() || how_.across == steal::never) {
    return own;
  }
  for (const std::vector<std::size_t>& group : threads_.others(me.team)) {
    const hand stolen = steal_from(group);
    if (stolen.any()) {
      return stolen;
    }
  }
  return {};
}

std::size_t chunk_queue::left(std::size_t list) const noexcept {
  const list_state& state = lists_[list];
  const std::uint64_t taken = state.taken.value.load(std::memory_order_relaxed);
  if (how_.kind == schedule_kind::guided) {
    return state.pages - std::min<std::size_t>(state.pages, taken);
  }
  const both_ends ends = split(taken);
  return state.chunks - std::min(state.chunks, ends.front + ends.back);
}

chunk_queue::hand chunk_queue::steal_from(const std::vector<std::size_t>& group) noexcept {
  for (;;) {
    // From the team with most left: one with little left soon finishes and would steal in turn.
    const std::size_t most =
        *std::ranges::max_element(group, {}, [this](std::size_t list) { return left(list); });
    if (left(most) == 0) {
      return {};
    }
    if (const hand got = take(most, from::back); got.any()) {
      return got;
    }
  }
}

std::string to_string(const loop_statistics& of) {
  const std::string chunks =
      fmt::format("{} chunks, {} stolen", of.chunks_local + of.chunks_stolen, of.chunks_stolen);
  const double mib = static_cast<double>(of.bytes_local + of.bytes_stolen) / (1 << 20);
  const auto share = of.locality();
  return share ? fmt::format("{}; {:.1f} % of {:.1f} MiB at home", chunks, 100 * *share, mib)
               : chunks;
}

namespace detail {

std::shared_ptr<const page_lists> page_list_cache::of(std::uint64_t number,
                                                      std::span<const extent> pages,
                                                      const thread_map& threads) {
  for (const entry& each : entries_) {
    if (number != 0 && each.number == number) {
      return each.lists;
    }
  }
  auto lists = std::make_shared<const page_lists>(pages, threads);
  if (number != 0) {
    entries_[oldest_] = {number, lists};
    oldest_ = (oldest_ + 1) % kept;
  }
  return lists;
}

void refuse_lengths(std::size_t first, std::size_t other) {
  throw error(error_kind::usage, "cannot loop over arrays together",
              fmt::format("one has {} elements, another has {}", first, other),
              "use arrays of the same length");
}

} // namespace detail

} // namespace nodewise::inline v0
