// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/group_parts.hpp"

#include <algorithm>

#include "agent/alloc/placement.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/alloc/system_facts.hpp"
#include "agent/asked.hpp"
#include "agent/page.hpp"
#include "agent/trace/announce.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::size_t least_part_bytes = std::size_t{256} << 10;

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
  const std::size_t begin = round_up(range.begin, page_bytes());
  const std::size_t end = round_up(range.end, page_bytes());
  what = unplaced(NODEWISE_AGENT_GROUP, end - begin, of.caller);
  what.sequence = before.sequence;
  what.pid = before.pid;
  what.start = of.blocks.start() + begin;
  what.blocks = range.last - range.first;
  what.above = of.above;
  what.made_by = of.made_by;
  what.numbered = before.numbered;
  what.within = before.within;
  what.first_block = of.blocks.first_block() + begin / page_bytes();
  what.first_number = range.first;
  if (of.foreign.load(relaxed) > std::min<std::uint64_t>(what.blocks, most_foreign) / 8) {
    what.flags |= NODEWISE_AGENT_MANY_THREADS;
  } else if (!with_threads) {
    what.flags |= NODEWISE_AGENT_NO_THREADS;
  }
  of.parts = std::max(of.parts, position + 1);
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
  const auto ends_at = [&at](std::uint32_t block) { return is_index(at.bytes, block - at.number); };
  return std::any_of(of.marked + position + 1, of.marked + marks,
                     [&](const mark& later) { return ends_at(later.number); }) ||
         (last > at.number && ends_at(last));
}

/// Whether the request at a mark is an index that grows like a vector, by half or to twice its size
/// whenever it is full. Then no more blocks follow than there are already.
bool is_grown_index(const group& of, std::size_t position, std::size_t marks, std::uint32_t first,
                    std::uint32_t last) noexcept {
  constexpr std::uint32_t unseen = 1024; // an array's blocks before its first index that has a mark
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

} // namespace

void settle_parts(group& of, bool with_threads) noexcept {
  const std::size_t used = of.blocks.used_bytes();
  if (of.blocks.own_blocks() == 0 || used == of.settled_bytes) {
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

void report_parts(group& of) noexcept {
  if (of.reported.exchange(true)) {
    return;
  }
  for (std::size_t i = 0; i < of.parts; ++i) {
    object& each = of.part[i];
    if (each.bytes != 0 && !of.told[i]) {
      of.told[i] = true;
      if (of.blocks.freed() < of.blocks.own_blocks()) {
        each.flags |= NODEWISE_AGENT_LIVE_AT_END;
      }
      report_freed(each);
    }
  }
}

} // namespace nodewise::agent
