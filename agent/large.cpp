// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/large.hpp"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

#include "agent/announce.hpp"
#include "agent/next.hpp"
#include "agent/placement.hpp"
#include "agent/process.hpp"
#include "agent/rules.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

constinit settings asked{};
constinit std::size_t gate_bytes = static_cast<std::size_t>(-1);
constinit std::size_t page_mask = 0;
constinit object_table objects;

namespace {

/// Maps, places and enters an object.
void* make(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  object made{};
  made.kind = NODEWISE_AGENT_HEAP;
  made.bytes = bytes;
  made.placed_bytes = made.mapped_bytes = round_up(bytes, page_bytes());
  made.blocks = 1;
  made.caller = caller;
  if (!choose(asked, made)) {
    return nullptr;
  }
  const std::size_t preferred = preferred_alignment(made);
  made.start = map(bytes, alignment > preferred ? alignment : preferred);
  if (made.start == nullptr) {
    return nullptr;
  }
  place(made, present_pages::stay);
  count_made(made);
  if (!objects.insert(made)) {
    unmap(made.start, made.mapped_bytes);
    give_back_extents(made);
    return nullptr;
  }
  return made.start;
}

/// Lets the object shrink or grow where it is, or move as a whole. It must be out of the table: the
/// kernel may give its old address to somebody else at once. False if it is as it was.
bool remap(object& what, std::size_t needed) noexcept {
  if (needed < what.mapped_bytes) {
    unmap(what.start + needed, what.mapped_bytes - needed);
    what.mapped_bytes = needed;
    give_back_extents(what);
    place_resized(what);
    return true;
  }
  reset(what);
  const long moved = sys::raw::remap(what.start, what.mapped_bytes, needed, MREMAP_MAYMOVE);
  if (moved >= 0) {
    what.start = reinterpret_cast<char*>(moved);
    what.mapped_bytes = needed;
  }
  place_resized(what);
  return moved >= 0;
}

void* resize_by_copy(void* start, std::size_t had, std::size_t bytes, const void* caller) noexcept {
  void* moved = bytes >= gate_bytes && bytes <= PTRDIFF_MAX / 2 ? make(bytes, 1, caller) : nullptr;
  if (moved == nullptr) {
    moved = next.malloc(bytes);
  }
  if (moved != nullptr) {
    std::memcpy(moved, start, had < bytes ? had : bytes);
    (void)release_large(start);
  }
  return moved;
}

} // namespace

void place_resized(object& what) noexcept {
  const std::size_t before = what.placed_bytes;
  const std::size_t now = what.mapped_bytes;
  const std::size_t change = now > before ? now - before : before - now;
  if (change <= before / 8) {
    if (change != 0) {
      what.flags |= NODEWISE_AGENT_RESIZED;
    }
    place(what, present_pages::stay);
    return;
  }
  what.flags &= ~static_cast<unsigned>(NODEWISE_AGENT_RESIZED);
  what.placed_bytes = now;
  object renewed = what; // another rule may fit the new size
  renewed.flags &= ~static_cast<unsigned>(NODEWISE_AGENT_UNASKED);
  what = choose(asked, renewed) ? renewed : what;
  place(what, present_pages::move);
}

void* allocate_large(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  return bytes > PTRDIFF_MAX - page_mask ? nullptr : make(bytes, alignment, caller);
}

void* allocate_unplaced(std::size_t bytes, std::size_t alignment) noexcept {
  object made{};
  made.mapped_bytes = round_up(bytes + (bytes == 0 ? 1 : 0), page_bytes());
  made.start = bytes > PTRDIFF_MAX / 2 ? nullptr : map(made.mapped_bytes, alignment);
  made.bytes = bytes;
  made.placed_bytes = made.mapped_bytes;
  made.granule_bytes = page_bytes();
  page_mask = page_bytes() - 1;
  if (made.start != nullptr && !objects.insert(made)) {
    unmap(made.start, made.mapped_bytes);
    made.start = nullptr;
  }
  return made.start;
}

bool release_large(void* start) noexcept {
  object what;
  if (!objects.take(start, what)) {
    return false;
  }
  if (what.kind != NODEWISE_AGENT_HEAP) { // the program frees what malloc has not given
    (void)objects.insert(what);
    return false;
  }
  report_freed(what);
  unmap(what.start, what.mapped_bytes);
  give_back_extents(what);
  return true;
}

void* resize_large(void* start, std::size_t bytes, const void* caller) noexcept {
  object what;
  if (!objects.find(start, what)) {
    return nullptr;
  }
  const std::size_t had = round_up(what.bytes, page_bytes());
  if (bytes < gate_bytes || bytes > PTRDIFF_MAX / 2) {
    return resize_by_copy(start, had, bytes, caller);
  }
  const std::size_t needed = round_up(bytes, page_bytes());
  if (needed == what.mapped_bytes) {
    what.bytes = bytes;
    objects.replace(what);
    return start;
  }
  if (!objects.take(start, what)) {
    return nullptr;
  }
  what.bytes = bytes;
  const bool done = remap(what, needed);
  what.bytes = done ? bytes : had;
  announce_object(what);
  (void)objects.insert(what);
  return done ? what.start : resize_by_copy(start, had, bytes, caller);
}

std::size_t usable_bytes(const void* start) noexcept {
  object what;
  return objects.find(start, what) ? round_up(what.bytes, page_bytes()) : 0;
}

} // namespace nodewise::agent
