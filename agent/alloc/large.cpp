// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/large.hpp"

#include <algorithm>
#include <cstring>

#include "agent/alloc/front.hpp"
#include "agent/alloc/groups.hpp"
#include "agent/alloc/next.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/asked.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The bytes from an address to the next multiple of `unit`.
std::size_t bytes_to_edge(const char* at, std::size_t unit) noexcept {
  return (unit - reinterpret_cast<std::size_t>(at) % unit) % unit;
}

/// Puts the object into a block of the next allocator, at the block's first page boundary: free()
/// recognises large objects by their page alignment.
bool borrow(object& what, std::size_t alignment, content wanted) noexcept {
  const std::size_t unit = std::max(alignment, page_bytes());
  if (what.bytes > PTRDIFF_MAX - unit) {
    return false;
  }
  const std::size_t bytes = what.bytes + unit;
  what.block =
      static_cast<char*>(wanted == content::zero ? behind.calloc(1, bytes) : behind.malloc(bytes));
  what.start = what.block + bytes_to_edge(what.block, unit);
  return what.block != nullptr;
}

bool take_memory(object& what, std::size_t alignment, content wanted) noexcept {
  if (asked.observe && asked.trace) {
    return borrow(what, alignment, wanted);
  }
  return map_for(what, std::max(alignment, preferred_alignment(what)));
}

void give_memory_back(object& what) noexcept {
  if (what.block != nullptr) {
    reset(what); // the memory's next user places it by first touch
    behind.free(what.block);
    return;
  }
  unmap(mapping_of(what), mapping_bytes(what));
  give_back_extents(what);
}

/// Makes an object of a kept block. A profile shows the program's own use of memory, so it keeps no
/// blocks.
bool make_of_kept(object& made, std::size_t alignment, content wanted) noexcept {
  kept_blocks::slot from = kept_memory.take_last(made, alignment);
  if (from == kept_blocks::none && policies_are_short() && made.is_to_be_placed()) {
    made.flags |= NODEWISE_AGENT_MAP_LIMIT;
    from = kept_memory.take(made, alignment);
    if (from == kept_blocks::none) {
      made.flags &= ~static_cast<unsigned>(NODEWISE_AGENT_MAP_LIMIT);
    }
  }
  if (from == kept_blocks::none) {
    from = kept_memory.take(made, alignment);
  }
  if (from == kept_blocks::none) {
    return false;
  }
  if (wanted == content::zero) {
    std::memset(made.start, 0, made.bytes);
  }
  count_made(made);
  kept_memory.lend(from, made);
  return true;
}

/// Ends the loan of an object and moves it to the table. False if there is no room.
bool take_from_kept(void* start) noexcept {
  object lent;
  if (!kept_memory.find(start, lent)) {
    return true;
  }
  if (!objects.insert(lent)) {
    return false;
  }
  kept_memory.forget(kept_memory.claim(start));
  return true;
}

bool find_large(const void* start, object& what) noexcept {
  return kept_memory.find(start, what) || objects.find(start, what);
}

/// False if code that bypasses the agent freed the object: another block may have its address.
bool release_lent(kept_blocks::slot claimed) noexcept {
  object& what = kept_memory.at(claimed);
  if (!has_its_front(what)) {
    give_back_extents(what);
    kept_memory.forget(claimed);
    return false;
  }
  report_freed(what);
  kept_memory.put_back(claimed);
  return true;
}

/// The bytes that the program may use.
std::size_t room_in(const object& what) noexcept {
  return what.block != nullptr ? what.bytes : round_up(what.bytes, page_bytes());
}

/// Resizes by the next allocator's realloc(). The block may then start elsewhere in a page.
bool resize_borrowed(object& what, std::size_t bytes) noexcept {
  const auto before = static_cast<std::size_t>(what.start - what.block);
  if (before >= page_bytes()) { // a larger alignment, which a move may break
    return false;
  }
  auto* const moved = static_cast<char*>(behind.realloc(what.block, bytes + page_bytes()));
  if (moved == nullptr) {
    return false;
  }
  what.block = moved;
  what.start = moved + bytes_to_edge(moved, page_bytes());
  std::memmove(what.start, moved + before, std::min(what.bytes, bytes));
  what.bytes = bytes;
  what.mapped_bytes = round_up(bytes, page_bytes());
  place_resized(what);
  return true;
}

/// Shrinks or grows the object in place, or moves it as a whole. It must not be in the table: the
/// kernel may give its old address to another mapping at once. False if it is unchanged.
bool remap(object& what, std::size_t bytes) noexcept {
  if (what.block != nullptr) {
    reset(what);
    return resize_borrowed(what, bytes);
  }
  const std::size_t needed = round_up(bytes, page_bytes());
  what.bytes = bytes;
  if (needed < what.mapped_bytes) {
    unmap(what.start + needed, what.mapped_bytes - needed);
    what.mapped_bytes = needed;
    write_front(what);
    give_back_extents(what);
    place_resized(what);
    return true;
  }
  reset(what);
  const long moved = sys::raw::remap(mapping_of(what), mapping_bytes(what),
                                     needed + what.front_bytes, MREMAP_MAYMOVE);
  if (moved >= 0) {
    what.start = reinterpret_cast<char*>(moved) + what.front_bytes;
    what.mapped_bytes = needed;
    write_front(what);
  }
  place_resized(what);
  return moved >= 0;
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

void* allocate_large(std::size_t bytes, std::size_t alignment, const void* caller,
                     content wanted) noexcept {
  if (bytes > PTRDIFF_MAX - page_mask) {
    return nullptr;
  }
  object made = unplaced(NODEWISE_AGENT_HEAP, bytes, caller);
  made.above = rules_above(asked, caller);
  if (!choose(asked, made)) {
    return nullptr;
  }
  if (make_of_kept(made, alignment, wanted)) {
    return made.start;
  }
  if (!take_memory(made, alignment, wanted)) {
    return nullptr;
  }
  place(made, present_pages::stay);
  count_made(made);
  if (!objects.insert(made)) {
    give_memory_back(made);
    return nullptr;
  }
  return made.start;
}

bool is_large_heap(const void* start) noexcept {
  object what;
  return is_large(start) && find_large(start, what) && what.kind == NODEWISE_AGENT_HEAP &&
         has_its_front(what);
}

bool release_large(void* start) noexcept {
  const kept_blocks::slot lent = kept_memory.claim(start);
  if (lent != kept_blocks::none) {
    return release_lent(lent);
  }
  object what;
  if (!objects.take(start, what)) {
    return false;
  }
  if (what.kind != NODEWISE_AGENT_HEAP) { // the program frees memory that is not from malloc
    (void)objects.insert(what);
    return false;
  }
  if (!has_its_front(what)) {
    give_back_extents(what);
    return false;
  }
  report_freed(what);
  if (asked.observe || !kept_blocks::can_be_kept(what) || !kept_memory.keep(what)) {
    give_memory_back(what);
  }
  return true;
}

std::optional<void*> resize_large(void* start, std::size_t bytes, const void* caller) noexcept {
  object what;
  if (!take_from_kept(start) || !objects.find(start, what)) {
    return nullptr;
  }
  const std::size_t had = room_in(what);
  const bool stays =
      bytes >= gate_bytes || (what.block != nullptr && may_stand_alone(bytes, caller));
  if (!stays || bytes > PTRDIFF_MAX / 2) {
    return std::nullopt;
  }
  if (what.block == nullptr && round_up(bytes, page_bytes()) == what.mapped_bytes) {
    what.bytes = bytes;
    objects.replace(what);
    return start;
  }
  if (!objects.take(start, what)) {
    return nullptr;
  }
  const bool done = remap(what, bytes);
  what.bytes = done ? bytes : had;
  if (done) {
    tell_moved(what);
  }
  (void)objects.insert(what);
  return done ? std::optional<void*>(what.start) : std::nullopt;
}

std::size_t usable_bytes(const void* start) noexcept {
  object what;
  return find_large(start, what) ? room_in(what) : 0;
}

} // namespace nodewise::agent
