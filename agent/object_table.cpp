// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/object_table.hpp"

#include <sys/mman.h>

namespace nodewise::agent {

namespace {

constexpr std::size_t first_count = 256;
constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

class guard {
 public:
  explicit guard(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { ::pthread_mutex_lock(&mutex_); }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  ~guard() { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

void* map_zeroed(std::size_t bytes) noexcept {
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}

} // namespace

std::size_t object_table::home(key address, std::size_t count) noexcept {
  // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
  const std::uint64_t mixed = static_cast<std::uint64_t>(address) * 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(mixed >> 32) & (count - 1);
}

std::size_t object_table::position(const slots& in, key address) noexcept {
  for (std::size_t at = home(address, in.count);; at = (at + 1) & (in.count - 1)) {
    const key found = in.keys[at].load(std::memory_order_acquire);
    if (found == address) {
      return at;
    }
    if (found == empty) {
      return nowhere;
    }
  }
}

object_table::slots* object_table::map_slots(std::size_t count) noexcept {
  const std::size_t bytes =
      sizeof(slots) + count * (sizeof(std::atomic<key>) + sizeof(object)) + alignof(object);
  void* const memory = map_zeroed(bytes);
  if (memory == nullptr) {
    return nullptr;
  }
  // Zero bytes from the kernel are empty keys.
  auto* const made = static_cast<slots*>(memory);
  made->count = count;
  made->objects = reinterpret_cast<object*>(made + 1);
  made->keys = reinterpret_cast<std::atomic<key>*>(made->objects + count);
  return made;
}

void object_table::put(slots& into, const object& value) noexcept {
  const key address = reinterpret_cast<key>(value.start);
  std::size_t at = home(address, into.count);
  while (into.keys[at].load(std::memory_order_relaxed) > removed) {
    at = (at + 1) & (into.count - 1);
  }
  into.objects[at] = value;
  into.keys[at].store(address, std::memory_order_release);
}

void object_table::remove_at(slots& from, std::size_t at) noexcept {
  from.keys[at].store(removed, std::memory_order_release);
  // Where a run of slots ends nothing is looked for behind it: its removed keys can be empty again,
  // so that they do not fill the table up.
  if (from.keys[(at + 1) & (from.count - 1)].load(std::memory_order_relaxed) != empty) {
    return;
  }
  while (from.keys[at].load(std::memory_order_relaxed) == removed) {
    from.keys[at].store(empty, std::memory_order_release);
    at = (at - 1) & (from.count - 1);
  }
}

/// Makes room so that at most half of the slots are live. Keys that were removed are left behind.
bool object_table::grow() noexcept {
  slots* const old = slots_.load(std::memory_order_relaxed);
  if (old != nullptr && (live_ + 1) * 2 <= old->count) {
    return true;
  }
  slots* const larger = map_slots(old == nullptr ? first_count : old->count * 2);
  if (larger == nullptr) {
    return false;
  }
  for (std::size_t at = 0; old != nullptr && at < old->count; ++at) {
    if (old->keys[at].load(std::memory_order_relaxed) > removed) {
      put(*larger, old->objects[at]);
    }
  }
  slots_.store(larger, std::memory_order_release);
  return true;
}

bool object_table::contains(const void* start) const noexcept {
  const slots* const all = slots_.load(std::memory_order_acquire);
  const key address = reinterpret_cast<key>(start);
  return all != nullptr && address > removed && position(*all, address) != nowhere;
}

bool object_table::insert(const object& value) noexcept {
  const guard held(mutex_);
  if (!grow()) {
    return false;
  }
  put(*slots_.load(std::memory_order_relaxed), value);
  ++live_;
  return true;
}

bool object_table::find(const void* start, object& into) noexcept {
  const guard held(mutex_);
  const slots* const all = slots_.load(std::memory_order_relaxed);
  const std::size_t at =
      all == nullptr ? nowhere : position(*all, reinterpret_cast<key>(start));
  if (at == nowhere) {
    return false;
  }
  into = all->objects[at];
  return true;
}

bool object_table::take(const void* start, object& into) noexcept {
  const guard held(mutex_);
  slots* const all = slots_.load(std::memory_order_relaxed);
  const std::size_t at =
      all == nullptr ? nowhere : position(*all, reinterpret_cast<key>(start));
  if (at == nowhere) {
    return false;
  }
  into = all->objects[at];
  remove_at(*all, at);
  --live_;
  return true;
}

void object_table::replace(const object& value) noexcept {
  const guard held(mutex_);
  slots* const all = slots_.load(std::memory_order_relaxed);
  const std::size_t at =
      all == nullptr ? nowhere : position(*all, reinterpret_cast<key>(value.start));
  if (at != nowhere) {
    all->objects[at] = value;
  }
}

object_table::copy object_table::snapshot(bool wait) noexcept {
  copy made;
  if (wait) {
    ::pthread_mutex_lock(&mutex_);
  } else if (::pthread_mutex_trylock(&mutex_) != 0) {
    return made;
  }
  const slots* const all = slots_.load(std::memory_order_relaxed);
  if (all != nullptr && live_ != 0) {
    made.mapped_bytes = live_ * sizeof(object);
    made.objects = static_cast<object*>(map_zeroed(made.mapped_bytes));
  }
  for (std::size_t at = 0; made.objects != nullptr && at < all->count; ++at) {
    if (all->keys[at].load(std::memory_order_relaxed) > removed) {
      made.objects[made.count++] = all->objects[at];
    }
  }
  ::pthread_mutex_unlock(&mutex_);
  return made;
}

void object_table::release(const copy& made) noexcept {
  if (made.objects != nullptr) {
    ::munmap(made.objects, made.mapped_bytes);
  }
}

} // namespace nodewise::agent
