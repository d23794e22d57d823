// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/range_index.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

} // namespace

void range_index::copy(range& into, const range& from) noexcept {
  into.begin.store(from.begin.load(relaxed), relaxed);
  into.end.store(from.end.load(relaxed), relaxed);
  into.sequence.store(from.sequence.load(relaxed), relaxed);
}

void range_index::begin_change() noexcept {
  version_.store(version_.load(relaxed) + 1, relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void range_index::end_change() noexcept {
  version_.store(version_.load(relaxed) + 1, std::memory_order_release);
}

std::size_t range_index::count_to(std::uintptr_t address, std::size_t count) const noexcept {
  std::size_t first = 0;
  while (first < count) {
    const std::size_t middle = first + (count - first) / 2;
    if (ranges_[middle].begin.load(relaxed) <= address) {
      first = middle + 1;
    } else {
      count = middle;
    }
  }
  return first;
}

void range_index::add(std::uintptr_t begin, std::uintptr_t end, std::uint64_t sequence) noexcept {
  const std::size_t count = count_.load(relaxed);
  if (count == most) {
    return;
  }
  begin_change();
  const std::size_t at = count_to(begin, count);
  for (std::size_t i = count; i > at; --i) {
    copy(ranges_[i], ranges_[i - 1]);
  }
  ranges_[at].begin.store(begin, relaxed);
  ranges_[at].end.store(end, relaxed);
  ranges_[at].sequence.store(sequence, relaxed);
  count_.store(count + 1, relaxed);
  lowest_.store(begin < lowest_.load(relaxed) ? begin : lowest_.load(relaxed), relaxed);
  highest_.store(end > highest_.load(relaxed) ? end : highest_.load(relaxed), relaxed);
  end_change();
}

void range_index::remove(std::uintptr_t begin) noexcept {
  const std::size_t count = count_.load(relaxed);
  const std::size_t after = count_to(begin, count);
  if (after == 0 || ranges_[after - 1].begin.load(relaxed) != begin) {
    return;
  }
  begin_change();
  for (std::size_t i = after; i < count; ++i) {
    copy(ranges_[i - 1], ranges_[i]);
  }
  count_.store(count - 1, relaxed);
  end_change();
}

void range_index::clear() noexcept {
  begin_change();
  count_.store(0, relaxed);
  end_change();
}

bool range_index::find(std::uintptr_t address, place& into) const noexcept {
  constexpr int patience = 1000;
  for (int i = 0; i < patience; ++i) {
    into.version = version_.load(std::memory_order_acquire);
    if (into.version % 2 != 0) {
      continue;
    }
    const std::size_t count = count_.load(relaxed);
    const std::size_t after = count_to(address, count < most ? count : most);
    into.begin = after == 0 ? 0 : ranges_[after - 1].begin.load(relaxed);
    into.end = after == 0 ? 0 : ranges_[after - 1].end.load(relaxed);
    into.sequence = after == 0 ? 0 : ranges_[after - 1].sequence.load(relaxed);
    into.is_range = address < into.end;
    if (!into.is_range) {
      into.begin = into.end;
      into.end = after == count ? UINTPTR_MAX : ranges_[after].begin.load(relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(relaxed) == into.version) {
      return true;
    }
  }
  return false;
}

} // namespace nodewise::agent
