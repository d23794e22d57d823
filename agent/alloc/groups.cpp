// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/groups.hpp"

#include <span>

#include <sys/resource.h>

#include "agent/alloc/group_parts.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/asked.hpp"
#include "agent/page.hpp"
#include "agent/trace/stacks.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::size_t max_groups = 128;
constexpr std::size_t opening_bytes = std::size_t{16} << 10;
constexpr std::size_t least_object_bytes = std::size_t{128} << 10; ///< never a row
constexpr std::size_t most_arena_bytes = std::size_t{16} << 30;    ///< address space, not memory
constexpr std::size_t least_arena_bytes = std::size_t{64} << 20;
/// In a profile blocks of this size or more may be objects of their own: see `may_stand_alone`.
constexpr std::size_t least_alone_bytes = std::size_t{16} << 10;
constexpr std::uint32_t most_alone = 256; ///< of a site: records and allocations are few
constexpr std::size_t site_count = 4096;
constexpr std::size_t site_tries = 16; ///< places that a site may have in the table

constinit std::atomic<std::size_t> group_count{0};
constinit group* all_groups = nullptr;
constinit std::size_t arena_bytes = 0;
constinit bool arenas_refused = false;
constinit std::size_t group_limit = max_groups;
constinit pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
constinit pthread_mutex_t settling = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<group*> latest{nullptr}; ///< the last group that gave a block

/// A place in the program that requests blocks.
struct site {
  std::atomic<const void*> caller;
  // Requested so far, before there is a group. A lost update does no harm.
  std::atomic<std::size_t> bytes;
  std::atomic<std::size_t> arena_bytes; ///< that they would take in an arena
  std::atomic<std::uint32_t> blocks;
  std::atomic<group*> members;
  std::atomic<std::uint32_t> alone; ///< blocks that have a name of their own

  void note(std::size_t block) noexcept {
    bytes.store(bytes.load(relaxed) + block, relaxed);
    arena_bytes.store(arena_bytes.load(relaxed) + arena::bytes_of_block(block), relaxed);
    blocks.store(blocks.load(relaxed) + 1, relaxed);
  }
};

constinit site sites[site_count] = {};

/// nullptr: other sites have all its places in the table.
site* site_of(const void* caller) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(caller));
  const std::uint64_t first = (address * 0x9e3779b97f4a7c15U) >> 52;
  for (std::size_t k = 0; k < site_tries; ++k) {
    site& each = sites[(first + k) % site_count];
    const void* known = each.caller.load(relaxed);
    if (known == caller ||
        (known == nullptr && each.caller.compare_exchange_strong(known, caller, relaxed)) ||
        known == caller) {
      return &each;
    }
  }
  return nullptr;
}

/// Reserves address space for all arenas at once, so that free() recognises their blocks by one
/// comparison. False if address space is limited: the program may need it.
bool reserve_arenas() noexcept {
  if (arenas_bytes != 0) {
    return true;
  }
  struct rlimit limit{};
  if (arenas_refused || ::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) {
    return false;
  }
  arenas_refused = true; // on success this is not read again
  all_groups =
      static_cast<group*>(sys::raw::map(sizeof(group) * max_groups, PROT_READ | PROT_WRITE, 0));
  if (all_groups == nullptr) {
    return false;
  }
  for (std::size_t each = most_arena_bytes; each >= least_arena_bytes; each /= 2) {
    void* const space = sys::raw::map(each * max_groups, PROT_NONE, MAP_NORESERVE);
    if (space != nullptr) {
      (void)sys::raw::call(SYS_munlock, space, each * max_groups); // after mlockall(MCL_FUTURE)
      arena_bytes = each;
      arenas_start = reinterpret_cast<std::uintptr_t>(space);
      std::atomic_thread_fence(std::memory_order_release);
      arenas_bytes = each * max_groups;
      return true;
    }
  }
  return false;
}

/// The offset of an arena's first block. The distance of arenas is a large power of two. Blocks at
/// the same offset in several arenas would share one set of each cache and of the TLB, and a loop
/// over a dozen such arrays would miss at every access.
std::size_t begin_of_arena(std::size_t number) noexcept {
  constexpr std::size_t cache_lines = std::size_t{5} * 64; // odd: another line for each of 64
  return number * (page_bytes() + cache_lines);
}

group* open_group(const site& from, const void* caller, std::size_t block) noexcept {
  if (group_count.load(relaxed) == group_limit || !reserve_arenas()) {
    return nullptr;
  }
  void* const side =
      sys::raw::map(arena::side_bytes(arena_bytes), PROT_READ | PROT_WRITE, MAP_NORESERVE);
  if (side == nullptr) {
    return nullptr;
  }
  const std::size_t number = group_count.load(relaxed);
  group& made = all_groups[number];
  made.caller = caller;
  made.above = rules_above(asked, caller);
  made.made_by = note_allocation(caller);
  // For the blocks that the site requested before this one.
  const arena::room earlier{from.arena_bytes.load(relaxed) - arena::bytes_of_block(block),
                            from.blocks.load(relaxed) - 1};
  made.blocks.open(reinterpret_cast<char*>(arenas_start) + number * arena_bytes, arena_bytes, side,
                   begin_of_arena(number), earlier);
  group_count.store(number + 1, std::memory_order_release);
  return &made;
}

/// Makes or finds the site's group. Only one thread makes it.
group* group_for(site& from, const void* caller, std::size_t block) noexcept {
  group* found = nullptr;
  if (::pthread_mutex_trylock(&opening) == 0) {
    found = from.members.load(relaxed);
    if (found == nullptr) {
      found = open_group(from, caller, block);
      from.members.store(found, std::memory_order_release);
    }
    ::pthread_mutex_unlock(&opening);
  }
  return found;
}

/// Decides by the bytes that a site has requested, including this block. The block may be at most
/// half of them: this excludes an array's index, which is one request or doubles each time. If a
/// rule names the site's group, the first block already belongs to it. Only if the first thread
/// asks: another thread may make the rows, and a group has one thread.
bool is_time_for_group(std::size_t so_far, std::size_t block, const void* caller) noexcept {
  return (so_far >= opening_bytes && block <= so_far / 2) ||
         (so_far == block && block < least_object_bytes && names_group(asked, caller) &&
          sys::raw::call(SYS_gettid) == sys::raw::call(SYS_getpid));
}
/// Whether a group for the site was already tried and failed: too many sites, or too little memory.
bool was_tried(std::size_t before, std::size_t block) noexcept {
  return before >= 2 * opening_bytes && before >= 4 * block;
}

group& group_of(const void* block) noexcept {
  return all_groups[(reinterpret_cast<std::uintptr_t>(block) - arenas_start) / arena_bytes];
}

/// False if another thread settles or reports, or if this one does and a signal handler interrupted
/// it. The caller does not wait: the next freed block, or the end of the process, does the work.
bool try_settling() noexcept {
  return ::pthread_mutex_trylock(&settling) == 0;
}

std::span<group> groups() noexcept {
  return {all_groups, group_count.load(std::memory_order_acquire)};
}

} // namespace

bool may_stand_alone(std::size_t bytes, const void* caller) noexcept {
  if (bytes < least_alone_bytes || !asked.observe || !asked.trace) {
    return false;
  }
  site* const from = site_of(caller);
  return from != nullptr && from->alone.load(relaxed) < most_alone &&
         from->alone.fetch_add(1, relaxed) < most_alone;
}

void* allocate_grouped(std::size_t bytes, const void* caller) noexcept {
  site* const from = site_of(caller);
  if (from == nullptr) {
    return nullptr;
  }
  group* members = from->members.load(std::memory_order_acquire);
  if (members == nullptr) {
    const std::size_t before = from->bytes.load(relaxed);
    if (was_tried(before, bytes)) { // avoids contention: many threads may come here at once
      return nullptr;
    }
    from->note(bytes);
    members = is_time_for_group(before + bytes, bytes, caller) ? group_for(*from, caller, bytes)
                                                               : nullptr;
  }
  if (members == nullptr) {
    return nullptr;
  }
  if (!members->blocks.is_mine()) {
    if (members->foreign.load(relaxed) < most_foreign) {
      members->foreign.fetch_add(1, relaxed);
    }
    return nullptr;
  }
  if (members->blocks.own_blocks() < handful) {
    note_other_request(bytes, caller); // it may be the index of another group's next blocks
  }
  void* const made = members->blocks.allocate(bytes);
  if (made != nullptr) {
    members->latest_bytes = bytes;
    if (latest.load(relaxed) != members) {
      latest.store(members, relaxed);
    }
  }
  return made;
}

void note_other_request(std::size_t bytes, const void* caller) noexcept {
  if (bytes < handful * sizeof(void*)) { // too small for an index of an array's rows
    return;
  }
  group* const last = latest.load(relaxed);
  // A request of the same size as a block is one more block, from another line of the program.
  if (last == nullptr || !last->blocks.is_mine() || last->marks.load(relaxed) == max_marks ||
      bytes == last->latest_bytes) {
    return;
  }
  const std::size_t marks = last->marks.load(relaxed);
  const std::uint32_t number = last->blocks.blocks();
  const bool again = marks != 0 && last->marked[marks - 1].number == number;
  mark& at = last->marked[again ? marks - 1 : marks];
  if (!again) {
    at.number = number;
    at.offset = last->blocks.used_bytes();
  }
  if (!again || at.bytes.load(relaxed) < bytes) {
    at.bytes.store(bytes, relaxed);
    at.caller.store(caller, relaxed);
  }
  last->marks.store(marks + (again ? 0 : 1), std::memory_order_release);
}

bool is_in_arena(const void* start) noexcept {
  const std::size_t number = (reinterpret_cast<std::uintptr_t>(start) - arenas_start) / arena_bytes;
  if (number >= group_count.load(std::memory_order_acquire)) {
    return false;
  }
  const arena& blocks = all_groups[number].blocks;
  return static_cast<std::size_t>(static_cast<const char*>(start) - blocks.start()) <
         blocks.used_bytes();
}

void shrink_arenas() noexcept {
  ::pthread_mutex_lock(&opening);
  arenas_refused = true;
  if (arenas_bytes != 0 && !arenas_shrunk) {
    const std::size_t count = group_count.load(relaxed);
    small_bytes = gate_bytes; // small requests no longer look for a site
    for (group& each : groups()) {
      each.blocks.shrink();
    }
    arenas_shrunk = true;
    sys::raw::unmap(reinterpret_cast<void*>(arenas_start + count * arena_bytes),
                    (max_groups - count) * arena_bytes);
    group_limit = count;
  }
  ::pthread_mutex_unlock(&opening);
}

bool release_grouped(void* start) noexcept {
  group& of = group_of(start);
  if (of.settled_bytes.load(relaxed) != 0 && !of.reported.load(relaxed) && try_settling()) {
    report_parts(of);
    ::pthread_mutex_unlock(&settling);
  }
  return of.blocks.release(start);
}

std::size_t grouped_bytes(const void* start) noexcept {
  return arena::usable_bytes(start);
}

std::uintptr_t arena_of(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(group_of(block).blocks.start());
}

void settle_groups() noexcept {
  if (group_count.load(std::memory_order_acquire) == 0 || !try_settling()) {
    return;
  }
  for (group& each : groups()) {
    settle_parts(each, true);
  }
  ::pthread_mutex_unlock(&settling);
}

void report_groups(bool wait) noexcept {
  if (wait) {
    ::pthread_mutex_lock(&settling);
  } else if (!try_settling()) {
    return;
  }
  for (group& each : groups()) {
    settle_parts(each, false);
    report_parts(each);
  }
  ::pthread_mutex_unlock(&settling);
}

void lock_groups() noexcept {
  ::pthread_mutex_lock(&settling);
  ::pthread_mutex_lock(&opening);
}

void unlock_groups() noexcept {
  ::pthread_mutex_unlock(&opening);
  ::pthread_mutex_unlock(&settling);
}

std::uint64_t count_groups() noexcept {
  return group_count.load(relaxed);
}

} // namespace nodewise::agent
