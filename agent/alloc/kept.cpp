// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/kept.hpp"

#include "agent/alloc/front.hpp"
#include "agent/alloc/object_table.hpp"
#include "agent/alloc/system_facts.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

/// The flags that placing an object may set and that allow keeping it.
constexpr unsigned outcome = NODEWISE_AGENT_PLACED | NODEWISE_AGENT_BASE_PAGES;

/// The flags that a block and its next object must have in common.
constexpr unsigned kinds = NODEWISE_AGENT_UNASKED | NODEWISE_AGENT_MAP_LIMIT;

} // namespace

/// Objects placed by first touch are not kept. Neither are objects whose placement differs from the
/// request: the next attempt may succeed. Objects without policies, because the limit is reached,
/// are kept as long as that lasts.
bool kept_blocks::can_be_kept(const object& freed) noexcept {
  const bool no_policy = (freed.flags & kinds) != 0;
  const bool placed =
      (freed.flags & NODEWISE_AGENT_PLACED) != 0 && freed.where->kind != placement_kind::local;
  return freed.kind == NODEWISE_AGENT_HEAP && freed.block == nullptr && freed.front_bytes != 0 &&
         (placed || no_policy) && (freed.flags & ~(outcome | kinds)) == 0 &&
         freed.mapped_bytes <= largest_block_bytes && freed.placed_bytes == freed.mapped_bytes;
}

kept_blocks::state kept_blocks::key_of(const object& what) noexcept {
  const auto where = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(what.where));
  const std::uint64_t kind = what.flags & kinds;
  const std::uint64_t mixed =
      (where + kind + what.mapped_bytes * 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
  return mixed | 2; // neither `empty` nor `busy`
}

kept_blocks::slot kept_blocks::first_way(const void* start) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(start));
  return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15U) >> 32) % sets * ways;
}

kept_blocks::slot kept_blocks::slot_of(const void* start) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const slot first = first_way(start);
  for (slot i = first; i < first + ways; ++i) {
    if (lent_[i].load(relaxed) == address) {
      return i;
    }
  }
  return none;
}

/// Gives a kept block's memory back. The slot then belongs to the caller.
bool kept_blocks::give_back(slot from) noexcept {
  state found = states_[from].load(relaxed);
  if (found == empty || found == busy ||
      !states_[from].compare_exchange_strong(found, busy, acquire, relaxed)) {
    return false;
  }
  object& what = objects_[from];
  bytes_.fetch_sub(what.mapped_bytes, relaxed);
  unmap(mapping_of(what), mapping_bytes(what));
  give_back_extents(what);
  return true;
}

/// Like give_back(), and frees the slot.
bool kept_blocks::drop(slot from) noexcept {
  if (!give_back(from)) {
    return false;
  }
  states_[from].store(empty, release);
  return true;
}

void kept_blocks::forget(slot claimed) noexcept {
  bytes_.fetch_sub(objects_[claimed].mapped_bytes, relaxed);
  states_[claimed].store(empty, release);
}

/// A slot for a block at this address. It then belongs to the caller.
kept_blocks::slot kept_blocks::free_way(const void* start) noexcept {
  const slot first = first_way(start);
  for (slot i = first; i < first + ways; ++i) {
    state expected = empty;
    if (states_[i].compare_exchange_strong(expected, busy, acquire, relaxed)) {
      return i;
    }
  }
  for (slot i = first; i < first + ways; ++i) {
    if (give_back(i)) {
      return i;
    }
  }
  return none;
}

std::atomic<kept_blocks::slot>& kept_blocks::hint(state key) noexcept {
  const auto thread =
      static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()));
  return hint_[((key + thread) * 0x9e3779b97f4a7c15U >> 32) % hints];
}

/// Keeps the slot's object. A second free() of it reaches the C library, which finds a chunk of
/// size 0 and aborts the program, as it does without the agent.
void kept_blocks::put_back(slot claimed) noexcept {
  const object& what = objects_[claimed];
  const state key = key_of(what);
  hide_front(what);
  freed_at_[claimed].store(come_.load(relaxed), relaxed);
  states_[claimed].store(key, release);
  std::atomic<slot>& last = hint(key);
  if (last.load(relaxed) != claimed) { // a store takes the cache line from the other threads' hints
    last.store(claimed, relaxed);
  }
}

bool kept_blocks::keep(const object& freed) noexcept {
  if (come_.fetch_add(1, relaxed) == 0) {
    // For debuggers that read this process from outside; protocol.h explains it.
    nodewise_agent_view.lent = {reinterpret_cast<std::uintptr_t>(lent_),
                                reinterpret_cast<std::uintptr_t>(objects_), none};
  }
  give_back_old();
  // Reserves room for the block. Drops the oldest blocks if necessary.
  while (bytes_.fetch_add(freed.mapped_bytes, relaxed) + freed.mapped_bytes > most_bytes) {
    bytes_.fetch_sub(freed.mapped_bytes, relaxed);
    if (!give_back_oldest()) {
      return false;
    }
  }
  const slot into = free_way(freed.start);
  if (into == none) {
    bytes_.fetch_sub(freed.mapped_bytes, relaxed);
    return false;
  }
  objects_[into] = freed;
  has_policies_[into].store(freed.extents != 0, relaxed);
  put_back(into);
  return true;
}

bool kept_blocks::take_from(slot from, state key, object& wanted, std::size_t alignment) noexcept {
  state expected = key;
  if (states_[from].load(relaxed) != key ||
      !states_[from].compare_exchange_strong(expected, busy, acquire, relaxed)) {
    return false;
  }
  const object& found = objects_[from];
  if (found.where != wanted.where || found.mapped_bytes != wanted.mapped_bytes ||
      ((found.flags ^ wanted.flags) & kinds) != 0 ||
      (reinterpret_cast<std::uintptr_t>(found.start) & (alignment - 1)) != 0) {
    states_[from].store(key, release);
    return false;
  }
  wanted.start = found.start;
  wanted.front_bytes = found.front_bytes;
  wanted.granule_bytes = found.granule_bytes;
  wanted.extents = found.extents;
  wanted.flags |= found.flags & outcome;
  return true;
}

kept_blocks::slot kept_blocks::take_last(object& wanted, std::size_t alignment) noexcept {
  if (bytes() == 0) {
    return none;
  }
  const state key = key_of(wanted);
  const slot likely = hint(key).load(relaxed);
  return take_from(likely, key, wanted, alignment) ? likely : none;
}

kept_blocks::slot kept_blocks::take(object& wanted, std::size_t alignment) noexcept {
  const slot likely = take_last(wanted, alignment);
  if (likely != none || bytes() == 0) {
    return likely;
  }
  const state key = key_of(wanted);
  for (slot i = 0; i < none; ++i) {
    if (states_[i].load(relaxed) == key && take_from(i, key, wanted, alignment)) {
      return i;
    }
  }
  return none;
}

void kept_blocks::lend(slot from, const object& made) noexcept {
  objects_[from] = made;
  write_front(made);
  lent_[from].store(reinterpret_cast<std::uintptr_t>(made.start), release);
}

bool kept_blocks::find(const void* start, object& into) const noexcept {
  const slot found = slot_of(start);
  if (found == none) {
    return false;
  }
  into = objects_[found];
  return true;
}

kept_blocks::slot kept_blocks::claim(const void* start) noexcept {
  const slot found = slot_of(start);
  auto address = reinterpret_cast<std::uintptr_t>(start);
  return found != none && lent_[found].compare_exchange_strong(address, 0, acquire, relaxed) ? found
                                                                                             : none;
}

/// Gives back blocks that were not requested while many new ones were added.
void kept_blocks::give_back_old() noexcept {
  const std::uint64_t now = come_.load(relaxed);
  if (bytes() == 0 || now % ways != 0) {
    return;
  }
  for (slot i = 0; i < none; ++i) {
    if (states_[i].load(relaxed) > busy && now - freed_at_[i].load(relaxed) > longest_kept) {
      (void)drop(i);
    }
  }
}

/// False if no block is kept.
bool kept_blocks::give_back_oldest() noexcept {
  slot oldest = none;
  for (slot i = 0; i < none; ++i) {
    if (states_[i].load(relaxed) > busy &&
        (oldest == none || freed_at_[i].load(relaxed) < freed_at_[oldest].load(relaxed))) {
      oldest = i;
    }
  }
  if (oldest != none) {
    (void)drop(oldest); // if another thread was first, there is room as well
  }
  return oldest != none;
}

bool kept_blocks::give_back_all(shortage of) noexcept {
  bool any = false;
  for (slot i = 0; i < none && bytes() != 0; ++i) {
    // Read without owning the slot: skipping a block once does no harm.
    const bool wanted = of == shortage::memory || has_policies_[i].load(relaxed);
    any = (wanted && drop(i)) || any;
  }
  return any;
}

} // namespace nodewise::agent
