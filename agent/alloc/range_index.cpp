// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/range_index.hpp"

#include <algorithm>

#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

} // namespace

range_index::range& range_index::range::operator=(const range& from) noexcept {
  begin.store(from.begin.load(relaxed), relaxed);
  end.store(from.end.load(relaxed), relaxed);
  sequence.store(from.sequence.load(relaxed), relaxed);
  return *this;
}

void range_index::begin_change() noexcept {
  version_.store(version_.load(relaxed) + 1, relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void range_index::end_change() noexcept {
  version_.store(version_.load(relaxed) + 1, std::memory_order_release);
}

range_index::chunk& range_index::chunk_at(std::size_t position) const noexcept {
  return *order_[position].load(relaxed);
}

/// Limits the count: a reader must stay inside the chunk while a writer changes it.
std::size_t range_index::count_of(const chunk& in) noexcept {
  return std::min(in.count.load(relaxed), chunk_ranges);
}

std::size_t range_index::count_to(const chunk& in, std::uintptr_t address) noexcept {
  const range* const after =
      std::partition_point(in.ranges, in.ranges + count_of(in), [address](const range& each) {
        return each.begin.load(relaxed) <= address;
      });
  return static_cast<std::size_t>(after - in.ranges);
}

std::size_t range_index::chunk_for(std::uintptr_t address, std::size_t chunks) const noexcept {
  const auto* const after =
      std::partition_point(order_, order_ + chunks, [address](const std::atomic<chunk*>& each) {
        return each.load(relaxed)->ranges[0].begin.load(relaxed) <= address;
      });
  return after == order_ ? 0 : static_cast<std::size_t>(after - order_) - 1;
}

/// Inserts an empty chunk at this position of the order.
bool range_index::insert_chunk(std::size_t position) noexcept {
  const std::size_t chunks = chunks_.load(relaxed);
  if (chunks == most_chunks) {
    return false;
  }
  chunk* const unused = order_[chunks].load(relaxed);
  chunk* const made =
      unused != nullptr
          ? unused
          : static_cast<chunk*>(sys::raw::map(sizeof(chunk), PROT_READ | PROT_WRITE, 0));
  if (made == nullptr) {
    return false;
  }
  made->count.store(0, relaxed);
  for (std::size_t i = chunks; i > position; --i) {
    order_[i].store(order_[i - 1].load(relaxed), relaxed);
  }
  order_[position].store(made, relaxed);
  chunks_.store(chunks + 1, relaxed);
  return true;
}

/// Moves the upper half of a chunk to a new chunk after it.
bool range_index::split(std::size_t position) noexcept {
  if (!insert_chunk(position + 1)) {
    return false;
  }
  chunk& lower = chunk_at(position);
  chunk& upper = chunk_at(position + 1);
  constexpr std::size_t half = chunk_ranges / 2;
  std::copy(lower.ranges + half, std::end(lower.ranges), upper.ranges);
  upper.count.store(chunk_ranges - half, relaxed);
  lower.count.store(half, relaxed);
  return true;
}

/// Joins two chunks if both together fill at most half a chunk, so that removals do not leave many
/// short chunks.
void range_index::join_with_next(std::size_t position) noexcept {
  if (position + 1 >= chunks_.load(relaxed)) {
    return;
  }
  chunk& lower = chunk_at(position);
  const chunk& upper = chunk_at(position + 1);
  const std::size_t had = count_of(lower);
  const std::size_t more = count_of(upper);
  if (had + more > chunk_ranges / 2) {
    return;
  }
  std::copy_n(upper.ranges, more, lower.ranges + had);
  lower.count.store(had + more, relaxed);
  remove_chunk(position + 1);
}

void range_index::remove_chunk(std::size_t position) noexcept {
  chunk* const removed = order_[position].load(relaxed);
  const std::size_t last = chunks_.load(relaxed) - 1;
  for (std::size_t i = position; i < last; ++i) {
    order_[i].store(order_[i + 1].load(relaxed), relaxed);
  }
  order_[last].store(removed, relaxed);
  chunks_.store(last, relaxed);
}

void range_index::add(std::uintptr_t begin, std::uintptr_t end, std::uint64_t sequence) noexcept {
  begin_change();
  bool room = chunks_.load(relaxed) != 0 || insert_chunk(0);
  std::size_t in = chunk_for(begin, chunks_.load(relaxed));
  if (room && count_of(chunk_at(in)) == chunk_ranges) {
    room = split(in);
    in = chunk_for(begin, chunks_.load(relaxed));
  }
  if (room) {
    chunk& into = chunk_at(in);
    const std::size_t count = count_of(into);
    const std::size_t at = count_to(into, begin);
    std::copy_backward(into.ranges + at, into.ranges + count, into.ranges + count + 1);
    into.ranges[at].begin.store(begin, relaxed);
    into.ranges[at].end.store(end, relaxed);
    into.ranges[at].sequence.store(sequence, relaxed);
    into.count.store(count + 1, relaxed);
    complement_of_lowest_.store(std::max(~begin, complement_of_lowest_.load(relaxed)), relaxed);
    highest_.store(std::max(end, highest_.load(relaxed)), relaxed);
  }
  end_change();
}

void range_index::remove(std::uintptr_t begin) noexcept {
  const std::size_t chunks = chunks_.load(relaxed);
  if (chunks == 0) {
    return;
  }
  const std::size_t in = chunk_for(begin, chunks);
  chunk& from = chunk_at(in);
  const std::size_t count = count_of(from);
  const std::size_t after = count_to(from, begin);
  if (after == 0 || from.ranges[after - 1].begin.load(relaxed) != begin) {
    return;
  }
  begin_change();
  std::copy(from.ranges + after, from.ranges + count, from.ranges + after - 1);
  from.count.store(count - 1, relaxed);
  if (count == 1) {
    remove_chunk(in);
  } else {
    join_with_next(in);
  }
  end_change();
}

void range_index::clear() noexcept {
  begin_change();
  chunks_.store(0, relaxed);
  end_change();
}

std::uintptr_t range_index::last_overlapping(std::uintptr_t begin,
                                             std::uintptr_t end) const noexcept {
  const std::size_t chunks = chunks_.load(relaxed);
  if (chunks == 0 || end == 0) {
    return 0;
  }
  const chunk& in = chunk_at(chunk_for(end - 1, chunks));
  const std::size_t after = count_to(in, end - 1);
  if (after == 0 || in.ranges[after - 1].end.load(relaxed) <= begin) {
    return 0;
  }
  return in.ranges[after - 1].begin.load(relaxed);
}

/// Searches the index. The result is right if no thread changed the index meanwhile.
void range_index::look(std::uintptr_t address, place& into) const noexcept {
  into = {0, UINTPTR_MAX, 0, false, into.version};
  const std::size_t chunks = std::min(chunks_.load(relaxed), most_chunks);
  if (chunks == 0) {
    return;
  }
  const std::size_t number = chunk_for(address, chunks);
  const chunk& in = chunk_at(number);
  const std::size_t after = count_to(in, address);
  if (after != 0) {
    const range& below = in.ranges[after - 1];
    const std::uintptr_t end = below.end.load(relaxed);
    into.is_range = address < end;
    into.begin = into.is_range ? below.begin.load(relaxed) : end;
    into.sequence = below.sequence.load(relaxed);
    if (into.is_range) {
      into.end = end;
      return;
    }
  }
  if (after < count_of(in)) {
    into.end = in.ranges[after].begin.load(relaxed);
  } else if (number + 1 < chunks) {
    into.end = chunk_at(number + 1).ranges[0].begin.load(relaxed);
  }
}

bool range_index::find(std::uintptr_t address, place& into) const noexcept {
  constexpr int patience = 1000;
  for (int i = 0; i < patience; ++i) {
    into.version = version_.load(std::memory_order_acquire);
    if (into.version % 2 != 0) {
      continue;
    }
    look(address, into);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(relaxed) == into.version) {
      return true;
    }
  }
  return false;
}

} // namespace nodewise::agent
