// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/object_table.hpp"

#include <csignal>

#include <sys/mman.h>

#include "agent/alloc/system_facts.hpp"
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
  return what.kind == NODEWISE_AGENT_MAP || what.kind == NODEWISE_AGENT_REGION ||
         what.kind == NODEWISE_AGENT_FILE;
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

object* object_table::slots::find(const void* start) const noexcept {
  const auto address = reinterpret_cast<key>(start);
  // Bounded, since keys may move while a reader without the lock follows them.
  std::size_t at = home(address);
  for (std::size_t step = 0; step < count; ++step, at = after(at)) {
    const key found = keys[at].load(relaxed);
    if (found == address) {
      return objects + at;
    }
    if (found == 0) {
      break;
    }
  }
  return nullptr;
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

/// Closes the gap by moving later entries back, so that no marks of removed keys accumulate.
void object_table::slots::remove(const object& what) noexcept {
  auto gap = static_cast<std::size_t>(&what - objects);
  std::size_t next = after(gap);
  for (key found = 0; (found = keys[next].load(relaxed)) != 0; next = after(next)) {
    const std::size_t from_home = (next - home(found)) & (count - 1);
    const std::size_t from_gap = (next - gap) & (count - 1);
    if (from_home >= from_gap) {
      objects[gap] = objects[next];
      keys[gap].store(found, relaxed);
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
  if (old != nullptr) {
    old->for_each([larger](const object& each) { larger->put(each); });
  }
  slots_.store(larger, release_order);
  nodewise_agent_view.all = {reinterpret_cast<std::uintptr_t>(larger->keys),
                             reinterpret_cast<std::uintptr_t>(larger->objects), larger->count};
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

object* object_table::held(const void* start) const noexcept {
  const slots* const all = slots_.load(relaxed);
  return all == nullptr ? nullptr : all->find(start);
}

bool object_table::contains(const void* start) noexcept {
  const std::size_t before = changes_.load(acquire);
  const slots* const all = slots_.load(acquire);
  if (all == nullptr) {
    return false;
  }
  const bool found = all->find(start) != nullptr;
  std::atomic_thread_fence(acquire);
  if (before % 2 == 0 && changes_.load(relaxed) == before) {
    return found;
  }
  const guard locked(*this);
  return held(start) != nullptr;
}

bool object_table::insert(const object& value) noexcept {
  const guard locked(*this);
  // The kernel has reused the address, so the old entry is stale.
  if (object* const stale = held(value.start); stale != nullptr) {
    give_back_extents(*stale);
    remove_held(*stale);
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
  const guard locked(*this);
  const object* const found = held(start);
  if (found != nullptr) {
    into = *found;
  }
  return found != nullptr;
}

bool object_table::take_held(const void* start, object& into) noexcept {
  const object* const found = held(start);
  if (found == nullptr) {
    return false;
  }
  into = *found;
  remove_held(*found);
  return true;
}

bool object_table::take(const void* start, object& into) noexcept {
  const guard locked(*this);
  return take_held(start, into);
}

void object_table::remove_held(const object& what) noexcept {
  begin_change();
  const auto first = reinterpret_cast<std::uintptr_t>(what.start);
  if (is_mapping(what)) {
    --maps_;
    map_ranges_.remove(first);
  }
  if (keeps_ranges_) {
    ranges_.remove(first);
  }
  slots_.load(relaxed)->remove(what);
  --live_;
  end_change();
}

bool object_table::take_overlapping(const char* first, const char* last, object& into) noexcept {
  if (maps_.load(relaxed) == 0) {
    return false;
  }
  const guard locked(*this);
  const std::uintptr_t start = map_ranges_.last_overlapping(reinterpret_cast<std::uintptr_t>(first),
                                                            reinterpret_cast<std::uintptr_t>(last));
  return start != 0 && take_held(reinterpret_cast<const void*>(start), into);
}

void object_table::replace(const object& value) noexcept {
  const guard locked(*this);
  if (object* const found = held(value.start); found != nullptr) {
    *found = value;
  }
}

bool object_table::change(const void* start, std::uint64_t sequence, void (*how)(object&, void*),
                          void* with) noexcept {
  const guard locked(*this);
  object* const found = held(start);
  if (found == nullptr || found->sequence != sequence) {
    return false;
  }
  how(*found, with);
  return true;
}

void object_table::change_overlapping(const char* first, const char* last,
                                      void (*how)(object&, void*), void* with) noexcept {
  const guard locked(*this);
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  auto end = reinterpret_cast<std::uintptr_t>(last);
  while ((end = ranges_.last_overlapping(begin, end)) != 0) {
    how(*held(reinterpret_cast<const void*>(end)), with);
  }
}

void object_table::change_all(void (*how)(object&, void*), void* with) noexcept {
  const guard locked(*this);
  if (const slots* const all = slots_.load(relaxed); all != nullptr) {
    all->for_each([how, with](object& each) { how(each, with); });
  }
}

object_table::copy object_table::snapshot(bool wait) noexcept {
  copy made;
  if (wait) {
    lock();
  } else if (::pthread_mutex_trylock(&mutex_) != 0) {
    return made;
  }
  if (live_ != 0) {
    made.mapped_bytes = live_ * sizeof(object);
    made.objects = static_cast<object*>(map_zeroed(made.mapped_bytes));
  }
  if (made.objects != nullptr) {
    slots_.load(relaxed)->for_each(
        [&made](const object& each) { made.objects[made.count++] = each; });
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
