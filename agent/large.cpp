// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/large.hpp"

#include <cerrno>
#include <cstring>

#include "agent/next.hpp"
#include "agent/placement.hpp"
#include "agent/process.hpp"

namespace nodewise::agent {

constinit settings asked{};
constinit std::size_t threshold_bytes = static_cast<std::size_t>(-1);
constinit std::size_t page_mask = 0;
constinit object_table objects;

namespace {

/// Maps, places and enters an object with room for `room_bytes` more.
void* make(std::size_t bytes, std::size_t alignment, std::size_t room_bytes,
           const void* caller) noexcept {
  object made{};
  made.granule_bytes = choose_granule(asked, bytes);
  alignment = alignment > made.granule_bytes ? alignment : made.granule_bytes;
  made.start = map(bytes + room_bytes, alignment);
  if (made.start == nullptr) {
    return nullptr;
  }
  made.bytes = bytes;
  made.placed_bytes = round_up(bytes, page_bytes());
  made.mapped_bytes = round_up(bytes + room_bytes, page_bytes());
  made.caller = caller;
  place(asked, made);
  count_made(made);
  if (!objects.insert(made)) {
    unmap(made.start, made.mapped_bytes);
    give_back_extents(made);
    return nullptr;
  }
  return made.start;
}

void discard(const object& what) noexcept {
  unmap(what.start, what.mapped_bytes);
  give_back_extents(what);
}

/// Within the room there is, as long as the owners' blocks still make sense.
bool resize_in_place(object& what, std::size_t bytes) noexcept {
  if (bytes > what.mapped_bytes || bytes < what.placed_bytes / 2 || bytes < threshold_bytes) {
    return false;
  }
  const std::size_t before = round_up(what.bytes, page_bytes());
  const std::size_t needed = round_up(bytes, page_bytes());
  what.bytes = bytes;
  if (needed != what.placed_bytes) {
    what.flags |= NODEWISE_AGENT_RESIZED;
  }
  if (needed < before) {
    unmap(what.start + needed, what.mapped_bytes - needed);
    what.mapped_bytes = needed;
  }
  objects.replace(what);
  return true;
}

} // namespace

void* allocate_large(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  return bytes > PTRDIFF_MAX ? nullptr : make(bytes, alignment, 0, caller);
}

void* allocate_unplaced(std::size_t bytes, std::size_t alignment) noexcept {
  object made{};
  made.mapped_bytes = round_up(bytes + (bytes == 0 ? 1 : 0), page_bytes());
  made.start = bytes > PTRDIFF_MAX / 2 ? nullptr : map(made.mapped_bytes, alignment);
  made.bytes = bytes;
  made.placed_bytes = made.mapped_bytes;
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
  report_freed(what);
  discard(what);
  return true;
}

void* resize_large(void* start, std::size_t bytes, const void* caller) noexcept {
  object what;
  if (!objects.find(start, what)) {
    return nullptr;
  }
  if (resize_in_place(what, bytes)) {
    return start;
  }
  // A range that grows once grows again. With an eighth of room each byte of a slowly growing array
  // is copied nine times at most, and no owner has more than its block and that eighth. The kernel
  // will not move (mremap) a range that policies have split into several mappings.
  void* moved = nullptr;
  if (bytes >= threshold_bytes && bytes <= PTRDIFF_MAX / 2) {
    moved = make(bytes, 1, bytes > what.bytes ? bytes / 8 : 0, caller);
  }
  if (moved == nullptr) {
    moved = next.malloc(bytes);
  }
  if (moved != nullptr) {
    const std::size_t used = round_up(what.bytes, page_bytes());
    std::memcpy(moved, start, used < bytes ? used : bytes);
    (void)release_large(start);
  }
  return moved;
}

std::size_t usable_bytes(const void* start) noexcept {
  object what;
  return objects.find(start, what) ? round_up(what.bytes, page_bytes()) : 0;
}

} // namespace nodewise::agent
