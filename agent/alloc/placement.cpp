// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/placement.hpp"

#include <algorithm>

#include <nodewise/arithmetic.hpp>

#include "agent/alloc/extents.hpp"
#include "agent/alloc/front.hpp"
#include "agent/alloc/kept.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/asked.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * 8;

/// The node mask of a list of owners.
struct node_mask {
  unsigned long words[NODEWISE_AGENT_MAX_NODES / word_bits] = {};
  std::size_t count = 0;

  void insert(int node) noexcept {
    const auto at = static_cast<std::size_t>(node);
    words[at / word_bits] |= 1UL << (at % word_bits);
    count = std::max(count, at / word_bits + 1);
  }
  explicit node_mask(const owner_list& owners) noexcept {
    for (std::size_t run = 0; run < owners.runs; ++run) {
      insert(owners.run[run].node);
    }
  }
};

/// 0 or -errno.
long bind_one(char* start, std::size_t bytes, sys::policy mode, const node_mask& nodes,
              bool move) noexcept {
  return sys::raw::mbind(start, bytes, mode, nodes.words, nodes.count, move ? sys::mbind_move : 0);
}

sys::policy policy_of(placement_kind kind, std::size_t nodes) noexcept {
  using placements::kernel_policy;
  switch (placements::traits_of(kind).policy) {
  case kernel_policy::bind:
    return sys::policy::bind;
  case kernel_policy::prefer:
    return nodes > 1 ? sys::policy::preferred_many : sys::policy::preferred;
  case kernel_policy::local:
    return sys::policy::local;
  case kernel_policy::none:
  case kernel_policy::interleave:
    break;
  }
  return sys::policy::interleave;
}

/// A single policy for the whole range. Returns 1, or -errno.
long bind_whole(const object& what, placement_kind kind, bool move) noexcept {
  const owner_list owners = kind == placement_kind::local ? owner_list{} : what.where->owners;
  const long answer = bind_one(mapping_of(what), mapping_bytes(what), policy_of(kind, owners.runs),
                               node_mask(owners), move);
  return answer < 0 ? answer : 1;
}

/// A new interleave policy does not migrate pages that are on any of its nodes. This interleaves
/// the pages that are in memory, as the policy interleaves new ones.
void interleave_present_pages(const object& what) noexcept {
  constexpr std::size_t at_once = 128;
  const owner_list& owners = what.where->owners;
  const std::size_t pages = what.mapped_bytes / page_bytes();
  for (std::size_t first = 0; owners.runs > 1 && first < pages; first += at_once) {
    void* page[at_once];
    int node[at_once];
    int status[at_once];
    const std::size_t count = std::min(pages - first, at_once);
    for (std::size_t i = 0; i < count; ++i) {
      page[i] = what.start + (first + i) * page_bytes();
      node[i] = owners.run[(first + i) % owners.runs].node;
    }
    // A page that is not in memory, or is refused, stays: the report shows where pages are.
    (void)sys::raw::move_pages(0, count, page, node, status, sys::move_own_pages);
  }
}

/// Sets one policy for each extent, the first with the page in front. Returns the number of
/// policies, or -errno.
long bind_extents(const object& what, bool move) noexcept {
  long extents = 0;
  extent_cursor all(what);
  for (extent each{}; all.next(each); ++extents) {
    const owner_run run{0, each.node};
    const std::size_t front = extents == 0 ? what.front_bytes : 0;
    const long answer = bind_one(what.start + each.begin - front, each.end - each.begin + front,
                                 sys::policy::preferred, node_mask({&run, 1, 1, 1}), move);
    if (answer < 0) {
      return answer;
    }
  }
  return extents;
}

/// Doubles the granules of a cyclic object, or the shortest parts of a map. False if an owner would
/// have no granule, or if only one part would be left.
bool make_coarser(object& what) noexcept {
  const std::size_t slots = what.where->owners.slots;
  if (what.where->kind == placement_kind::map) {
    what.coarse_slots = what.coarse_slots == 0 ? 2 : what.coarse_slots * 2;
    return what.coarse_slots < slots;
  }
  if (what.granule_bytes * 2 * slots > what.placed_bytes) {
    return false;
  }
  what.granule_bytes *= 2;
  return true;
}

/// The mappings for one object's policies: half of those that are left, or for a map all of them,
/// since a plan knows how many all its maps need.
std::size_t extents_for(const object& what) noexcept {
  return what.where->kind == placement_kind::map ? extents_left() : extents_left() / 2;
}

/// Each granule or part takes a mapping. Makes them coarser until there are enough mappings for
/// all. False if that is impossible.
bool coarsen(object& what) noexcept {
  if (count_extents(what) > extents_for(what)) {
    (void)kept_memory.give_back_all(kept_blocks::shortage::policies);
  }
  const std::size_t most = extents_for(what);
  while (count_extents(what) > most) {
    if (!make_coarser(what)) {
      return false;
    }
    what.flags |= NODEWISE_AGENT_COARSER;
  }
  return true;
}

/// The requested granule, or one small enough for 16 rounds over the owners. At most 2 MiB, since
/// larger ones are no better.
std::size_t cyclic_granule(const object& what) noexcept {
  constexpr std::size_t largest = std::size_t{2} << 20;
  constexpr std::size_t rounds = 16;
  if (what.where->granule_bytes != 0) {
    return round_up(std::min(what.where->granule_bytes, what.placed_bytes), page_bytes());
  }
  const std::size_t each = what.placed_bytes / (rounds * what.where->owners.slots);
  std::size_t granule = page_bytes();
  while (granule * 2 <= each && granule < largest) {
    granule *= 2;
  }
  return granule;
}

/// Chooses the unit that edges are rounded to. A huge page never crosses the end of a mapping, and
/// extents are mappings, so edges on base pages stay exact with huge pages.
void choose_granule(object& what) noexcept {
  const std::size_t huge = huge_page_bytes();
  what.granule_bytes = granule_in_base_pages(what);
  if (!by_extents(what)) {
    return;
  }
  if (!arithmetic::huge_pages_fit(shortest_block_bytes(what), huge)) {
    if (huge != 0) {
      what.flags |= NODEWISE_AGENT_BASE_PAGES;
    }
  } else if (reinterpret_cast<std::size_t>(what.start) % huge == 0 && what.first_block == nullptr) {
    what.granule_bytes = round_up(what.granule_bytes, huge);
  }
}

/// Reserves room for at most `most` policies and sets them by `bind`, which returns their number,
/// or -errno. If the kernel refuses one, the whole range has none.
template <class Bind>
void place_by(object& what, std::size_t most, Bind bind) noexcept {
  if (!reserve_extents(most)) {
    what.flags |= NODEWISE_AGENT_MAP_LIMIT;
    return;
  }
  const long extents = bind();
  if (extents < 0) {
    release_extents(most);
    what.refused_errno = static_cast<int>(-extents);
    forget_policies(mapping_of(what), mapping_bytes(what));
    return;
  }
  what.extents = static_cast<unsigned>(extents);
  what.flags |= NODEWISE_AGENT_PLACED;
  release_extents(most - what.extents);
}

void place_whole(object& what, placement_kind kind, bool move) noexcept {
  place_by(what, 1, [&] { return bind_whole(what, kind, move); });
  if ((what.flags & NODEWISE_AGENT_PLACED) != 0 && move && kind == placement_kind::interleave) {
    interleave_present_pages(what);
  }
}

/// An object with too many granules is interleaved. A map with too many parts is not placed.
void place_where_mappings_are_short(object& what, bool move) noexcept {
  what.flags &= ~static_cast<unsigned>(NODEWISE_AGENT_COARSER | NODEWISE_AGENT_BASE_PAGES);
  what.coarse_slots = 0;
  what.granule_bytes = page_bytes();
  if (what.where->kind == placement_kind::map) {
    what.flags |= NODEWISE_AGENT_MAP_LIMIT;
    return;
  }
  what.flags |= NODEWISE_AGENT_INTERLEAVED;
  place_whole(what, placement_kind::interleave, move);
}

/// Call it before the first touch: a huge page would contain the memory of several owners.
void choose_page_size(const object& what, bool had_base_pages) noexcept {
  const bool has_base_pages = (what.flags & NODEWISE_AGENT_BASE_PAGES) != 0;
  if (has_base_pages != had_base_pages) {
    (void)sys::raw::madvise(mapping_of(what), mapping_bytes(what),
                            has_base_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  }
}

/// Lets the kernel make the mapping's record of its pages (anon_vma) while it is one mapping. Parts
/// that share this record become one mapping again when their policies are removed. The page itself
/// is given back: it has no owner yet.
void begin_page_record(const object& what) noexcept {
  *static_cast<volatile char*>(what.start) = 0;
  (void)sys::raw::madvise(what.start, page_bytes(), MADV_DONTNEED);
}

/// Whether the settings request huge pages for the object. The blocks of a group are small, and
/// borrowed memory is another allocator's.
bool is_for_huge_pages(const object& what) noexcept {
  return asked.huge_page_bytes != 0 && what.mapped_bytes >= asked.huge_page_bytes &&
         what.kind != NODEWISE_AGENT_GROUP && what.block == nullptr;
}

/// Requests huge pages if a whole one fits. The kernel never uses one that crosses the end of a
/// mapping, so the request may be for all of an object's own mapping, which stays one mapping: the
/// program may grow it. A static array has its mapping in common with other data.
void request_huge_pages(const object& what) noexcept {
  if (!is_for_huge_pages(what) || (what.flags & NODEWISE_AGENT_BASE_PAGES) != 0) {
    return;
  }
  const std::size_t huge = asked.huge_page_bytes;
  const std::size_t past = reinterpret_cast<std::size_t>(what.start) % huge;
  const std::size_t head = past == 0 ? 0 : huge - past;
  if (what.mapped_bytes < head + huge) {
    return;
  }
  const std::size_t inside = (what.mapped_bytes - head) / huge * huge;
  if (what.kind == NODEWISE_AGENT_STATIC) {
    (void)sys::raw::madvise(what.start + head, inside, MADV_HUGEPAGE);
  } else {
    (void)sys::raw::madvise(mapping_of(what), mapping_bytes(what), MADV_HUGEPAGE);
  }
}

void place_pages(object& what, present_pages present) noexcept {
  what.granule_bytes = page_bytes();
  if (!what.is_to_be_placed() || what.mapped_bytes == 0) {
    return;
  }
  constexpr unsigned outcome = NODEWISE_AGENT_PLACED | NODEWISE_AGENT_MAP_LIMIT |
                               NODEWISE_AGENT_COARSER | NODEWISE_AGENT_INTERLEAVED |
                               NODEWISE_AGENT_BASE_PAGES;
  const bool had_base_pages = (what.flags & NODEWISE_AGENT_BASE_PAGES) != 0;
  what.flags &= ~outcome;
  what.refused_errno = 0;
  what.coarse_slots = 0;
  choose_granule(what);
  const bool move = present == present_pages::move;
  if (!by_extents(what)) {
    place_whole(what, what.where->kind, move);
    return;
  }
  if (!placements::traits_of(what.where->kind).has_blocks() && !coarsen(what)) {
    place_where_mappings_are_short(what, move);
    return;
  }
  choose_page_size(what, had_base_pages);
  if (!move && what.pid == 0 && what.kind == NODEWISE_AGENT_MAP) { // others have a page in front
    begin_page_record(what);
  }
  place_by(what, count_extents(what), [&] { return bind_extents(what, move); });
}

} // namespace

object unplaced(std::uint32_t kind, std::size_t bytes, const void* caller) noexcept {
  object made{};
  made.kind = kind;
  made.bytes = bytes;
  made.placed_bytes = made.mapped_bytes = round_up(bytes, page_bytes());
  made.blocks = 1;
  made.caller = caller;
  made.rule = -1;
  return made;
}

bool by_extents(const object& what) noexcept {
  return placements::traits_of(what.where->kind).divided != placements::division::none;
}

std::size_t granule_in_base_pages(const object& what) noexcept {
  return what.where->kind == placement_kind::cyclic ? cyclic_granule(what) : page_bytes();
}

std::size_t preferred_alignment(const object& what) noexcept {
  if (!what.is_to_be_placed() || !by_extents(what)) {
    return is_for_huge_pages(what) ? asked.huge_page_bytes : page_bytes();
  }
  object probe = what;
  probe.granule_bytes = granule_in_base_pages(what);
  const std::size_t huge = huge_page_bytes();
  return arithmetic::huge_pages_fit(shortest_block_bytes(probe), huge) ? huge : page_bytes();
}

void place(object& what, present_pages present) noexcept {
  place_pages(what, present);
  request_huge_pages(what);
}

void reset(object& what) noexcept {
  if (what.extents != 0) {
    forget_policies(mapping_of(what), mapping_bytes(what));
    give_back_extents(what);
  }
}

bool forget_policies(void* start, std::size_t bytes) noexcept {
  return sys::raw::mbind(start, bytes, sys::policy::system_default, nullptr, 0, 0) >= 0;
}

bool reserve_extents(std::size_t count) noexcept {
  while (!try_reserve_extents(count)) {
    if (!kept_memory.give_back_all(kept_blocks::shortage::policies)) {
      return false;
    }
  }
  return true;
}

} // namespace nodewise::agent
