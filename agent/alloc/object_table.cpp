// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/object_table.hpp"

#include <csignal>
#include <cstddef>

#include <sys/mman.h>

#include "agent/alloc/extent_room.hpp"
#include "sys/raw.hpp"

extern "C" {
constinit struct nodewise_agent_view nodewise_agent_view = {
    NODEWISE_AGENT_VIEW_MAGIC,
    2,
    {},
    {},
    sizeof(nodewise::agent::object),
    offsetof(nodewise::agent::object, start),
    offsetof(nodewise::agent::object, bytes),
    offsetof(nodewise::agent::object, sequence),
    offsetof(nodewise::agent::object, caller),
    offsetof(nodewise::agent::object, kind),
    0,
    0,
};
}

namespace nodewise::agent {

namespace {

/// Whether it is one of the program's own mappings, which munmap() ends.
bool is_mapping(const object& what) noexcept {
  return what.kind == NODEWISE_AGENT_MAP || what.kind == NODEWISE_AGENT_REGION;
}

constexpr std::size_t first_count = 256;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release_order = std::memory_order_release;

class guard {
 public:
  explicit guard(object_table& table) noexcept : table_(table) {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    table_.lock();
  }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() {
    table_.unlock();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  object_table& table_;
  sigset_t before_; ///< signals are blocked: a handler that maps memory would deadlock
};

void* map_zeroed(std::size_t bytes) noexcept {
  return sys::raw::map(bytes, PROT_READ | PROT_WRITE, 0);
}

} // namespace

std::size_t object_table::slots::home(key address) const noexcept {
  // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
  const std::uint64_t mixed = std::uint64_t{address} * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(mixed >> 32) & (count - 1);
}

std::size_t object_table::slots::position(key address) const noexcept {
  // Bounded, since keys may move while a reader without the lock follows them.
  std::size_t at = home(address);
  for (std::size_t step = 0; step < count; ++step, at = after(at)) {
    const key found = keys[at].load(relaxed);
    if (found == address) {
      return at;
    }
    if (found == 0) {
      break;
    }
  }
  return count;
}

void object_table::slots::put(const object& value) noexcept {
  const key address = reinterpret_cast<key>(value.start);
  std::size_t at = home(address);
  while (keys[at].load(relaxed) != 0) {
    at = after(at);
  }
  objects[at] = value;
  keys[at].store(address, relaxed);
}

void object_table::slots::move(std::size_t from, std::size_t to) noexcept {
  objects[to] = objects[from];
  keys[to].store(keys[from].load(relaxed), relaxed);
}

/// Closes the gap by moving later entries back, so that no marks of removed keys accumulate.
void object_table::slots::remove(std::size_t at) noexcept {
  std::size_t gap = at;
  std::size_t next = after(at);
  for (key found = 0; (found = keys[next].load(relaxed)) != 0; next = after(next)) {
    const std::size_t from_home = (next - home(found)) & (count - 1);
    const std::size_t from_gap = (next - gap) & (count - 1);
    if (from_home >= from_gap) {
      move(next, gap);
      gap = next;
    }
  }
  keys[gap].store(0, relaxed);
}

object_table::slots* object_table::map_slots(std::size_t count) noexcept {
  static_assert(sizeof(slots) % alignof(object) == 0 &&
                sizeof(object) % alignof(std::atomic<key>) == 0);
  void* const memory =
      map_zeroed(sizeof(slots) + count * (sizeof(object) + sizeof(std::atomic<key>)));
  if (memory == nullptr) {
    return nullptr;
  }
  auto* const made = static_cast<slots*>(memory); // zero bytes from the kernel are empty keys
  made->count = count;
  made->objects = reinterpret_cast<object*>(made + 1);
  made->keys = reinterpret_cast<std::atomic<key>*>(made->objects + count);
  return made;
}

/// Keeps at least half of the slots empty, or one if there is no memory for a larger table.
bool object_table::make_room() noexcept {
  slots* const old = slots_.load(relaxed);
  if (old != nullptr && (live_ + 1) * 2 <= old->count) {
    return true;
  }
  slots* const larger = map_slots(old == nullptr ? first_count : old->count * 2);
  if (larger == nullptr) {
    return old != nullptr && live_ + 2 <= old->count;
  }
  for (std::size_t at = 0; old != nullptr && at < old->count; ++at) {
    if (old->keys[at].load(relaxed) != 0) {
      larger->put(old->objects[at]);
    }
  }
  slots_.store(larger, release_order);
  nodewise_agent_view.all.keys = reinterpret_cast<std::uintptr_t>(larger->keys);
  nodewise_agent_view.all.objects = reinterpret_cast<std::uintptr_t>(larger->objects);
  nodewise_agent_view.all.count = larger->count;
  return true;
}

void object_table::begin_change() noexcept {
  changes_.store(changes_.load(relaxed) + 1, relaxed);
  nodewise_agent_view.changes |= 1U;
  std::atomic_thread_fence(release_order);
}

void object_table::end_change() noexcept {
  changes_.store(changes_.load(relaxed) + 1, release_order);
  __atomic_add_fetch(&nodewise_agent_view.changes, 1, __ATOMIC_RELEASE);
}

bool object_table::contains(const void* start) noexcept {
  const std::size_t before = changes_.load(acquire);
  const slots* const all = slots_.load(acquire);
  if (all == nullptr) {
    return false;
  }
  const bool found = all->position(reinterpret_cast<key>(start)) != all->count;
  std::atomic_thread_fence(acquire);
  if (before % 2 == 0 && changes_.load(relaxed) == before) {
    return found;
  }
  const guard held(*this);
  return locked_position(start) != slots_.load(relaxed)->count;
}

std::size_t object_table::locked_position(const void* start) const noexcept {
  return slots_.load(relaxed)->position(reinterpret_cast<key>(start));
}

bool object_table::insert(const object& value) noexcept {
  const guard held(*this);
  // The kernel has reused the address, so the old entry is stale.
  const slots* const all = slots_.load(relaxed);
  const std::size_t stale = all == nullptr ? 0 : locked_position(value.start);
  if (all != nullptr && stale != all->count) {
    give_back_extents(all->objects[stale]);
    remove_locked(stale);
  }
  begin_change();
  const bool room = make_room();
  if (room) {
    slots_.load(relaxed)->put(value);
    ++live_;
    const auto first = reinterpret_cast<std::uintptr_t>(value.start);
    if (is_mapping(value)) {
      ++maps_;
      map_ranges_.add(first, first + value.mapped_bytes, value.sequence);
    }
    if (keeps_ranges_ && value.pid != 0) {
      ranges_.add(first, first + value.mapped_bytes, value.sequence);
    }
  }
  end_change();
  return room;
}

bool object_table::find(const void* start, object& into) noexcept {
  const guard held(*this);
  const slots* const all = slots_.load(relaxed);
  if (all == nullptr) {
    return false;
  }
  const std::size_t at = locked_position(start);
  if (at == all->count) {
    return false;
  }
  into = all->objects[at];
  return true;
}

bool object_table::take(const void* start, object& into) noexcept {
  const guard held(*this);
  slots* const all = slots_.load(relaxed);
  if (all == nullptr) {
    return false;
  }
  const std::size_t at = locked_position(start);
  if (at == all->count) {
    return false;
  }
  into = all->objects[at];
  remove_locked(at);
  return true;
}

void object_table::remove_locked(std::size_t at) noexcept {
  slots* const all = slots_.load(relaxed);
  begin_change();
  const auto first = reinterpret_cast<std::uintptr_t>(all->objects[at].start);
  if (is_mapping(all->objects[at])) {
    --maps_;
    map_ranges_.remove(first);
  }
  if (keeps_ranges_) {
    ranges_.remove(first);
  }
  all->remove(at);
  --live_;
  end_change();
}

bool object_table::take_overlapping(const char* first, const char* last, object& into) noexcept {
  if (maps_.load(relaxed) == 0) {
    return false;
  }
  const guard held(*this);
  const std::uintptr_t start = map_ranges_.last_overlapping(reinterpret_cast<std::uintptr_t>(first),
                                                            reinterpret_cast<std::uintptr_t>(last));
  if (start == 0) {
    return false;
  }
  const std::size_t at = locked_position(reinterpret_cast<const void*>(start));
  into = slots_.load(relaxed)->objects[at];
  remove_locked(at);
  return true;
}

void object_table::replace(const object& value) noexcept {
  const guard held(*this);
  slots* const all = slots_.load(relaxed);
  const std::size_t at = locked_position(value.start);
  if (at != all->count) {
    all->objects[at] = value;
  }
}

bool object_table::change(const void* start, std::uint64_t sequence, void (*how)(object&, void*),
                          void* with) noexcept {
  const guard held(*this);
  slots* const all = slots_.load(relaxed);
  const std::size_t at = all == nullptr ? 0 : locked_position(start);
  if (all == nullptr || at == all->count || all->objects[at].sequence != sequence) {
    return false;
  }
  how(all->objects[at], with);
  return true;
}

void object_table::change_overlapping(const char* first, const char* last,
                                      void (*how)(object&, void*), void* with) noexcept {
  const guard held(*this);
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  auto end = reinterpret_cast<std::uintptr_t>(last);
  while ((end = ranges_.last_overlapping(begin, end)) != 0) {
    how(slots_.load(relaxed)->objects[locked_position(reinterpret_cast<const void*>(end))], with);
  }
}

void object_table::change_all(void (*how)(object&, void*), void* with) noexcept {
  const guard held(*this);
  slots* const all = slots_.load(relaxed);
  for (std::size_t at = 0; all != nullptr && at < all->count; ++at) {
    if (all->keys[at].load(relaxed) != 0) {
      how(all->objects[at], with);
    }
  }
}

object_table::copy object_table::snapshot(bool wait) noexcept {
  copy made;
  if (wait) {
    lock();
  } else if (::pthread_mutex_trylock(&mutex_) != 0) {
    return made;
  }
  const slots* const all = slots_.load(relaxed);
  if (live_ != 0) {
    made.mapped_bytes = live_ * sizeof(object);
    made.objects = static_cast<object*>(map_zeroed(made.mapped_bytes));
  }
  for (std::size_t at = 0; made.objects != nullptr && at < all->count; ++at) {
    if (all->keys[at].load(relaxed) != 0) {
      made.objects[made.count++] = all->objects[at];
    }
  }
  unlock();
  return made;
}

void object_table::release(const copy& made) noexcept {
  if (made.objects != nullptr) {
    sys::raw::unmap(made.objects, made.mapped_bytes);
  }
}

} // namespace nodewise::agent
