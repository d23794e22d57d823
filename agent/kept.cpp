// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/kept.hpp"

#include "agent/front.hpp"
#include "agent/placement.hpp"

namespace nodewise::agent {

constinit kept_blocks kept_memory;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

/// What placing an object leaves in its flags.
constexpr unsigned outcome = NODEWISE_AGENT_PLACED | NODEWISE_AGENT_BASE_PAGES;

bool is_aligned(const char* start, std::size_t alignment) noexcept {
  return (reinterpret_cast<std::uintptr_t>(start) & (alignment - 1)) == 0;
}

} // namespace

/// Not where pages belong to the thread that touches them first, and not what came out differently
/// than asked: the next time it may come out right.
bool kept_blocks::can_be_kept(const object& freed) noexcept {
  const bool unasked = (freed.flags & NODEWISE_AGENT_UNASKED) != 0;
  const bool placed =
      (freed.flags & NODEWISE_AGENT_PLACED) != 0 && freed.where->kind != placement_kind::local;
  return freed.kind == NODEWISE_AGENT_HEAP && freed.block == nullptr && freed.front_bytes != 0 &&
         (placed || unasked) && (freed.flags & ~(outcome | NODEWISE_AGENT_UNASKED)) == 0 &&
         freed.mapped_bytes <= largest_block_bytes && freed.placed_bytes == freed.mapped_bytes;
}

kept_blocks::state kept_blocks::key_of(const object& what) noexcept {
  const auto where = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(what.where));
  const std::uint64_t unasked = what.flags & NODEWISE_AGENT_UNASKED;
  const std::uint64_t mixed =
      (where + unasked + what.mapped_bytes * 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
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

/// Of a kept block: its memory goes, and the slot is the caller's.
bool kept_blocks::give_back(slot from) noexcept {
  state found = states_[from].load(relaxed);
  if (found == empty || found == busy ||
      !states_[from].compare_exchange_strong(found, busy, acquire, relaxed)) {
    return false;
  }
  object& what = objects_[from];
  kept_.fetch_sub(1, relaxed);
  kept_bytes_.fetch_sub(what.mapped_bytes, relaxed);
  unmap(mapping_of(what), mapping_bytes(what));
  give_back_extents(what);
  return true;
}

/// A slot for a block at this address, which is the caller's then.
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

/// The slot's object becomes a kept one. Whoever frees it a second time through the C library meets
/// a chunk of no size, and fails as without the agent.
void kept_blocks::enter(slot into) noexcept {
  const object& what = objects_[into];
  const state key = key_of(what);
  hide_front(what);
  freed_at_[into].store(freed_.fetch_add(1, relaxed), relaxed);
  kept_.fetch_add(1, relaxed);
  kept_bytes_.fetch_add(what.mapped_bytes, relaxed);
  states_[into].store(key, release);
  hint_[key % hints].store(into, relaxed);
  trim();
}

/// For who looks at this process from outside; protocol.h explains it.
void kept_blocks::show() const noexcept {
  nodewise_agent_view.lent = {reinterpret_cast<std::uintptr_t>(lent_),
                              reinterpret_cast<std::uintptr_t>(objects_), none};
}

bool kept_blocks::keep(const object& freed) noexcept {
  if (freed_.load(relaxed) == 0) {
    show();
  }
  give_back_old();
  const slot into = free_way(freed.start);
  if (into == none) {
    return false;
  }
  objects_[into] = freed;
  enter(into);
  return true;
}

void kept_blocks::put_back(slot claimed) noexcept {
  enter(claimed);
}

bool kept_blocks::take_from(slot from, state key, object& wanted, std::size_t alignment) noexcept {
  state expected = key;
  if (states_[from].load(relaxed) != key ||
      !states_[from].compare_exchange_strong(expected, busy, acquire, relaxed)) {
    return false;
  }
  const object& found = objects_[from];
  if (found.where != wanted.where || found.mapped_bytes != wanted.mapped_bytes ||
      ((found.flags ^ wanted.flags) & NODEWISE_AGENT_UNASKED) != 0 ||
      !is_aligned(found.start, alignment)) {
    states_[from].store(key, release);
    return false;
  }
  kept_.fetch_sub(1, relaxed);
  kept_bytes_.fetch_sub(found.mapped_bytes, relaxed);
  wanted.start = found.start;
  wanted.front_bytes = found.front_bytes;
  wanted.granule_bytes = found.granule_bytes;
  wanted.extents = found.extents;
  wanted.flags |= found.flags & outcome;
  return true;
}

kept_blocks::slot kept_blocks::take(object& wanted, std::size_t alignment) noexcept {
  if (kept_.load(relaxed) == 0) {
    return none;
  }
  const state key = key_of(wanted);
  const slot likely = hint_[key % hints].load(relaxed);
  if (take_from(likely, key, wanted, alignment)) {
    return likely;
  }
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

/// Blocks that nobody has asked for while many others were freed.
void kept_blocks::give_back_old() noexcept {
  const std::uint64_t now = freed_.load(relaxed);
  if (kept_.load(relaxed) == 0 || now % ways != 0) {
    return;
  }
  for (slot i = 0; i < none; ++i) {
    if (states_[i].load(relaxed) > busy && now - freed_at_[i].load(relaxed) > longest_kept &&
        give_back(i)) {
      forget(i);
    }
  }
}

/// Gives the oldest ones back until the rest is not too much.
void kept_blocks::trim() noexcept {
  for (std::size_t attempt = 0; attempt < ways && kept_bytes() > most_kept_bytes; ++attempt) {
    slot oldest = none;
    for (slot i = 0; i < none; ++i) {
      if (states_[i].load(relaxed) > busy &&
          (oldest == none || freed_at_[i].load(relaxed) < freed_at_[oldest].load(relaxed))) {
        oldest = i;
      }
    }
    if (oldest != none && give_back(oldest)) {
      forget(oldest);
    }
  }
}

bool kept_blocks::give_back_all() noexcept {
  bool any = false;
  for (slot i = 0; i < none && kept_.load(relaxed) != 0; ++i) {
    if (give_back(i)) {
      forget(i);
      any = true;
    }
  }
  return any;
}

} // namespace nodewise::agent
