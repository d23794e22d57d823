// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/extents.hpp"

#include <algorithm>

#include <nodewise/arithmetic.hpp>

#include "agent/page.hpp"

namespace nodewise::agent {

namespace {

/// The offset of the first page in which no block before the group's `block` begins.
std::size_t page_of_block(const object& group, std::size_t block) noexcept {
  const std::uint32_t* const numbers = group.first_block;
  const std::uint32_t* const page = std::partition_point(
      numbers, numbers + group.placed_bytes / page_bytes(), [&](const std::uint32_t& number) {
        const bool behind_the_last_block = number == 0 && &number != numbers;
        return !behind_the_last_block && number < group.first_number + block;
      });
  return static_cast<std::size_t>(page - numbers) * page_bytes();
}

/// The end of the last block of a run of owners. A group is dealt by its blocks, since loops count
/// them, but a map was made from pages.
std::size_t blocked_end(const object& what, std::size_t run) noexcept {
  const std::size_t slot = what.where->owners.run[run + 1].first_slot;
  const std::size_t slots = what.where->owners.slots;
  if (what.first_block != nullptr && what.where->kind != placement_kind::map) {
    return page_of_block(what, arithmetic::dealt(slot, what.blocks, slots).first);
  }
  if (const std::size_t row = what.where->granule_bytes; row != 0) {
    const std::size_t edge = arithmetic::first_byte_of_rows(slot, what.placed_bytes, row, slots);
    return arithmetic::nearest(edge, 1, what.granule_bytes) * what.granule_bytes;
  }
  // A map's parts are relative, so that a map of many parts also fits a short object.
  return arithmetic::nearest(what.placed_bytes, slot, slots * what.granule_bytes) *
         what.granule_bytes;
}

} // namespace

extent_cursor::step extent_cursor::next_step() const noexcept {
  const owner_list& owners = what_.where->owners;
  const auto length_of = [&](std::size_t run) {
    return (run + 1 == owners.runs ? owners.slots : owners.run[run + 1].first_slot) -
           owners.run[run].first_slot;
  };
  step made{run_, owners.run[run_].node};
  std::size_t longest = length_of(run_);
  const std::size_t first = owners.run[run_].first_slot;
  while (made.last_run + 1 < owners.runs &&
         owners.run[made.last_run + 1].first_slot - first < what_.coarse_slots) {
    const std::size_t length = length_of(++made.last_run);
    if (length > longest) {
      longest = length;
      made.node = owners.run[made.last_run].node;
    }
  }
  return made;
}

std::size_t extent_cursor::end_of_run(std::size_t run) const noexcept {
  const owner_list& owners = what_.where->owners;
  const bool last_run = run + 1 == owners.runs;
  if (what_.where->kind == placement_kind::cyclic) {
    const std::size_t slots =
        round_ * owners.slots + (last_run ? owners.slots : owners.run[run + 1].first_slot);
    return owners.runs == 1 ? what_.mapped_bytes : slots * what_.granule_bytes;
  }
  return last_run ? what_.mapped_bytes : blocked_end(what_, run);
}

bool extent_cursor::next(extent& into) noexcept {
  const owner_list& owners = what_.where->owners;
  at_.begin = at_.end;
  while (at_.end == at_.begin) {
    if (at_.begin >= what_.mapped_bytes ||
        (run_ == owners.runs && what_.where->kind != placement_kind::cyclic)) {
      return false;
    }
    if (run_ == owners.runs) {
      run_ = 0;
      ++round_;
    }
    const step now = next_step();
    const std::size_t end = end_of_run(now.last_run);
    at_.end = std::min(end, what_.mapped_bytes);
    at_.node = now.node;
    run_ = now.last_run + 1;
  }
  into = at_;
  return true;
}

std::size_t extent_cursor::count_steps() noexcept {
  const owner_list& owners = what_.where->owners;
  if (what_.coarse_slots <= 1) {
    return owners.runs;
  }
  std::size_t steps = 0;
  for (run_ = 0; run_ < owners.runs; run_ = next_step().last_run + 1) {
    ++steps;
  }
  run_ = 0;
  return steps;
}

std::size_t count_extents(const object& what) noexcept {
  const owner_list& owners = what.where->owners;
  if (owners.runs == 1) {
    return 1;
  }
  if (what.where->kind != placement_kind::cyclic) {
    const std::size_t steps = extent_cursor(what).count_steps();
    return std::min(steps, arithmetic::pages_for(what.mapped_bytes, what.granule_bytes));
  }
  const std::size_t round = owners.slots * what.granule_bytes;
  return what.mapped_bytes / round * owners.runs +
         (what.mapped_bytes % round == 0 ? 0 : owners.runs);
}

std::size_t shortest_block_bytes(const object& what) noexcept {
  const owner_list& owners = what.where->owners;
  return what.where->kind == placement_kind::cyclic
             ? owners.shortest * what.granule_bytes
             : arithmetic::multiply_divide(what.placed_bytes, owners.shortest, owners.slots);
}

} // namespace nodewise::agent
