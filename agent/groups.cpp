// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/groups.hpp"

#include <atomic>

#include <sys/mman.h>
#include <sys/resource.h>

#include "agent/allocate.hpp"
#include "agent/allocation_log.hpp"
#include "agent/announce.hpp"
#include "agent/arena.hpp"
#include "agent/large.hpp"
#include "agent/placement.hpp"
#include "agent/process.hpp"
#include "agent/rules.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

constinit std::uintptr_t arenas_start = 0;
constinit std::size_t arenas_bytes = 0;
constinit bool arenas_shrunk = false;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::size_t max_groups = 128;
constexpr std::size_t max_parts = 32; ///< arrays that one site makes, one after the other
constexpr std::size_t max_marks = 64;
constexpr std::size_t opening_bytes = std::size_t{16} << 10;
constexpr std::size_t least_object_bytes = std::size_t{128} << 10; ///< never a row
constexpr std::uint32_t handful = 16; ///< fewer blocks are arrays of their own, not rows of one
constexpr std::uint32_t most_foreign = 1U << 16; ///< counted: contended counting would be slow
constexpr std::size_t least_part_bytes = std::size_t{256} << 10;
constexpr std::size_t most_arena_bytes = std::size_t{16} << 30; ///< address space, not memory
constexpr std::size_t least_arena_bytes = std::size_t{64} << 20;

/// A request between two blocks of a group that may be an index of the blocks that follow. The
/// group's thread writes it, while another one may place the blocks.
struct mark {
  std::uint32_t number;           ///< of the block that follows
  std::size_t offset;             ///< of that block in the arena
  std::atomic<std::size_t> bytes; ///< of the request
  std::atomic<const void*> caller;
};

struct group {
  arena blocks;
  const void* caller;
  rule_set above; ///< for every part, like `made_by`
  allocation made_by;
  std::atomic<std::uint32_t> foreign;     ///< requests of the site by other threads
  std::size_t latest_bytes;               ///< of the last requested block
  std::atomic<std::size_t> settled_bytes; ///< placed up to here
  std::atomic<bool> reported;
  std::atomic<std::size_t> marks;
  mark marked[max_marks];
  // Only for the thread that has the lock `settling`.
  std::size_t parts;
  object part[max_parts];
  bool told[max_parts]; ///< its part is in the report
};

/// A place in the program that requests blocks.
struct site {
  std::atomic<const void*> caller;
  std::atomic<std::size_t> bytes; ///< requested so far; a lost update does no harm
  std::atomic<group*> members;
  std::atomic<std::uint32_t> alone; ///< blocks that have a name of their own
};

constexpr std::uint32_t most_alone = 256; ///< of a site: records and allocations are few
constexpr std::size_t site_count = 4096;
constexpr std::size_t site_tries = 16; ///< places that a site may have in the table
constinit site sites[site_count] = {};
constinit std::atomic<std::size_t> group_count{0};
constinit group* all_groups = nullptr;
constinit std::size_t arena_bytes = 0;
constinit bool arenas_refused = false;
constinit std::size_t group_limit = max_groups;
constinit pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
constinit pthread_mutex_t settling = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<group*> latest{nullptr}; ///< the last group that gave a block

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

group* open_group(const void* caller) noexcept {
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
  made.blocks.open(reinterpret_cast<char*>(arenas_start) + number * arena_bytes, arena_bytes, side,
                   begin_of_arena(number));
  group_count.store(number + 1, std::memory_order_release);
  return &made;
}

/// Makes or finds the site's group. Only one thread makes it.
group* group_for(site& from, const void* caller) noexcept {
  group* found = nullptr;
  if (::pthread_mutex_trylock(&opening) == 0) {
    found = from.members.load(relaxed);
    if (found == nullptr) {
      found = open_group(caller);
      from.members.store(found, std::memory_order_release);
    }
    ::pthread_mutex_unlock(&opening);
  }
  return found;
}

bool is_first_thread() noexcept {
  return sys::raw::call(SYS_gettid) == sys::raw::call(SYS_getpid);
}

/// Decides by the bytes that a site has requested, including this block. The block may be at most
/// half of them: this excludes an array's index, which is one request or doubles each time. If a
/// rule names the site's group, the first block already belongs to it if it is as large as those
/// that a profile puts in front of the others. Only if the first thread asks: another thread may
/// make the rows, and a group has one thread.
bool is_time_for_group(std::size_t so_far, std::size_t block, const void* caller) noexcept {
  return (so_far >= opening_bytes && block <= so_far / 2) ||
         (so_far == block && block >= least_alone_bytes && block < least_object_bytes &&
          names_group(asked, caller) && is_first_thread());
}
/// Whether a group for the site was already tried and failed: too many sites, or too little memory.
bool was_tried(std::size_t before, std::size_t block) noexcept {
  return before >= 2 * opening_bytes && before >= 4 * block;
}

group& group_of(const void* block) noexcept {
  return all_groups[(reinterpret_cast<std::uintptr_t>(block) - arenas_start) / arena_bytes];
}

/// An index of `blocks` blocks has for each a pointer, or a small record with one: a vector is
/// three words.
bool is_index(std::size_t bytes, std::size_t blocks) noexcept {
  constexpr std::size_t largest_record = 64;
  return bytes >= blocks * sizeof(void*) && bytes <= blocks * largest_record;
}

/// Blocks first..last of a group, half-open, and their offsets.
struct block_range {
  std::uint32_t first;
  std::uint32_t last;
  std::size_t begin;
  std::size_t end;
};

/// Whether the part has too few blocks to be placed without a rule.
bool is_handful(const object& part) noexcept {
  return part.rule < 0 && !asked.observe && part.blocks < handful;
}

/// Enters or renews a part, and places it.
void place_part(group& of, std::size_t position, const block_range& range,
                bool with_threads) noexcept {
  object& what = of.part[position];
  give_back_extents(what);
  const object before = what;
  what = {};
  what.sequence = before.sequence;
  what.pid = before.pid;
  what.kind = NODEWISE_AGENT_GROUP;
  const std::size_t first_page = round_up(range.begin, page_bytes()) / page_bytes();
  const std::size_t end = round_up(range.end, page_bytes());
  what.start = of.blocks.start() + first_page * page_bytes();
  what.mapped_bytes = end - first_page * page_bytes();
  what.bytes = what.placed_bytes = what.mapped_bytes;
  what.blocks = range.last - range.first;
  what.caller = of.caller;
  what.above = of.above;
  what.made_by = of.made_by;
  what.numbered = before.numbered;
  what.within = before.within;
  what.first_block = of.blocks.first_block() + first_page;
  what.first_number = range.first;
  if (of.foreign.load(relaxed) > (what.blocks < most_foreign ? what.blocks : most_foreign) / 8) {
    what.flags |= NODEWISE_AGENT_MANY_THREADS;
  } else if (!with_threads) {
    what.flags |= NODEWISE_AGENT_NO_THREADS;
  }
  of.parts = position < of.parts ? of.parts : position + 1;
  const bool left_alone = what.flags != 0;
  if (!choose(asked, what) || is_handful(what)) {
    what.bytes = 0; // neither placed nor reported
    return;
  }
  if (left_alone) {
    what.granule_bytes = page_bytes();
  } else {
    place(what, present_pages::move);
  }
  if (before.pid == 0) {
    count_made(what);
  } else {
    announce_object(what);
  }
}

/// Whether the request at a mark is an index of the blocks from there to a later mark.
bool begins_array(const group& of, std::size_t position, std::size_t marks,
                  std::uint32_t last) noexcept {
  const mark& at = of.marked[position];
  for (std::size_t i = position + 1; i < marks; ++i) {
    if (is_index(at.bytes, of.marked[i].number - at.number)) {
      return true;
    }
  }
  return last > at.number && is_index(at.bytes, last - at.number);
}

/// Whether the request at a mark is an index that grows like a vector, by half or to twice its size
/// whenever it is full. Then no more blocks follow than there are already.
bool is_grown_index(const group& of, std::size_t position, std::size_t marks, std::uint32_t first,
                    std::uint32_t last) noexcept {
  constexpr std::uint32_t unseen = 1024; // blocks requested before the group was opened
  const mark& at = of.marked[position];
  const std::uint32_t next = position + 1 < marks ? of.marked[position + 1].number : last;
  if (next - at.number > at.number - first + unseen) {
    return false;
  }
  for (std::size_t i = position; i > 0; --i) {
    const mark& before = of.marked[i - 1];
    if (before.caller.load(relaxed) == at.caller.load(relaxed)) {
      const std::size_t bytes = at.bytes;
      const std::size_t bytes_before = before.bytes;
      return bytes > bytes_before && bytes <= bytes_before * 2 + 64;
    }
  }
  return false;
}

/// Splits the group's blocks into arrays: a new one begins where its index was requested.
template <class Each>
void for_each_part(const group& of, Each each) noexcept {
  const std::size_t marks =
      of.marks.load(std::memory_order_acquire); // loaded first: all marks lie below the end
  const std::size_t first_page = of.blocks.begin_bytes() / page_bytes();
  block_range now{0, of.blocks.blocks(), first_page * page_bytes(), of.blocks.used_bytes()};
  const block_range all = now;
  std::size_t position = 0;
  for (std::size_t i = 0; i < marks && position + 1 < max_parts; ++i) {
    const mark& at = of.marked[i];
    if (at.offset - now.begin >= least_part_bytes && begins_array(of, i, marks, all.last) &&
        !is_grown_index(of, i, marks, now.first, all.last)) {
      each(position++, block_range{now.first, at.number, now.begin, at.offset});
      now = {at.number, all.last, at.offset, all.end};
    }
  }
  each(position, now);
}

void settle(group& of, bool with_threads) noexcept {
  const std::size_t used = of.blocks.used_bytes();
  if (of.blocks.blocks() == 0 || used == of.settled_bytes) {
    return;
  }
  const std::size_t settled_before = of.settled_bytes;
  for_each_part(of, [&](std::size_t position, const block_range& range) {
    if (range.end > settled_before) {
      place_part(of, position, range, with_threads);
    }
  });
  of.settled_bytes = used;
  of.reported = false;
}

/// Needs the lock `settling`: another thread may be placing parts.
void report(group& of) noexcept {
  if (of.reported.exchange(true)) {
    return;
  }
  for (std::size_t i = 0; i < of.parts; ++i) {
    object& each = of.part[i];
    if (each.bytes != 0 && !of.told[i]) {
      of.told[i] = true;
      if (of.blocks.freed() < of.blocks.blocks()) {
        each.flags |= NODEWISE_AGENT_LIVE_AT_END;
      }
      report_freed(each);
    }
  }
}

/// False if another thread settles or reports, or if this one does and a signal handler interrupted
/// it. The caller does not wait: the next freed block, or the end of the process, does the work.
bool try_settling() noexcept {
  return ::pthread_mutex_trylock(&settling) == 0;
}

template <class Each>
void for_each_group(Each each) noexcept {
  const std::size_t count = group_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    each(all_groups[i]);
  }
}

} // namespace

void* allocate_grouped(std::size_t bytes, const void* caller) noexcept {
  site* const found = site_of(caller);
  if (found == nullptr) {
    return nullptr;
  }
  site& from = *found;
  group* members = from.members.load(std::memory_order_acquire);
  if (members == nullptr) {
    const std::size_t before = from.bytes.load(relaxed);
    if (was_tried(before, bytes)) { // avoids contention: many threads may come here at once
      return nullptr;
    }
    from.bytes.store(before + bytes, relaxed);
    members = is_time_for_group(before + bytes, bytes, caller) ? group_for(from, caller) : nullptr;
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
  if (members->blocks.blocks() < handful) {
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

bool may_stand_alone(std::size_t bytes, const void* caller) noexcept {
  if (bytes < least_alone_bytes || !asked.observe || !asked.trace) {
    return false;
  }
  site* const from = site_of(caller);
  return from != nullptr && from->alone.load(relaxed) < most_alone &&
         from->alone.fetch_add(1, relaxed) < most_alone;
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
    for (std::size_t i = 0; i < count; ++i) {
      all_groups[i].blocks.shrink();
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
    report(of);
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
  for_each_group([](group& each) { settle(each, true); });
  ::pthread_mutex_unlock(&settling);
}

void report_groups(bool wait) noexcept {
  if (wait) {
    ::pthread_mutex_lock(&settling);
  } else if (!try_settling()) {
    return;
  }
  for_each_group([](group& each) {
    settle(each, false);
    report(each);
  });
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
