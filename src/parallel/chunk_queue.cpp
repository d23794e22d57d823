// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nodewise/schedule.hpp>

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

} // namespace nodewise::inline v0
