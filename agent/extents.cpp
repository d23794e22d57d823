// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/extents.hpp"

#include <nodewise/arithmetic.hpp>

#include "agent/placement.hpp"

namespace nodewise::agent {

namespace {

/// The offset of the page that is the first to hold no block before the group's `block`.
std::size_t page_of_block(const object& group, std::size_t block) noexcept {
  std::size_t first = 0;
  std::size_t last = group.placed_bytes / page_bytes();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const std::uint32_t number = group.first_block[middle];
    const bool behind_the_last_block = number == 0 && middle != 0;
    if (!behind_the_last_block && number < group.first_number + block) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first * page_bytes();
}

std::size_t blocked_end(const object& what, std::size_t run) noexcept {
  const owner_list& owners = what.where->owners;
  const std::size_t slot = owners.run[run + 1].first_slot;
  if (what.first_block != nullptr) {
    return page_of_block(what, arithmetic::blocked(slot, what.blocks, owners.slots).first);
  }
  const std::size_t granules = arithmetic::pages_for(what.placed_bytes, what.granule_bytes);
  return arithmetic::blocked(slot, granules, owners.slots).first * what.granule_bytes;
}

} // namespace

std::size_t extent_cursor::end_of_run() const noexcept {
  const owner_list& owners = what_.where->owners;
  const bool last_run = run_ + 1 == owners.runs;
  if (what_.where->kind == placement_kind::cyclic) {
    const std::size_t slots =
        round_ * owners.slots + (last_run ? owners.slots : owners.run[run_ + 1].first_slot);
    return owners.runs == 1 ? what_.mapped_bytes : slots * what_.granule_bytes;
  }
  return last_run ? what_.mapped_bytes : blocked_end(what_, run_);
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
    const std::size_t end = end_of_run();
    at_.end = end < what_.mapped_bytes ? end : what_.mapped_bytes;
    at_.node = owners.run[run_++].node;
  }
  into = at_;
  return true;
}

std::size_t count_extents(const object& what) noexcept {
  const owner_list& owners = what.where->owners;
  if (what.where->kind != placement_kind::cyclic || owners.runs == 1) {
    return owners.runs;
  }
  const std::size_t round = owners.slots * what.granule_bytes;
  return what.mapped_bytes / round * owners.runs +
         (what.mapped_bytes % round == 0 ? 0 : owners.runs);
}

std::size_t shortest_block_bytes(const object& what) noexcept {
  const owner_list& owners = what.where->owners;
  std::size_t slots = owners.slots;
  for (std::size_t run = 0; run < owners.runs; ++run) {
    const std::size_t end = run + 1 < owners.runs ? owners.run[run + 1].first_slot : owners.slots;
    const std::size_t length = end - owners.run[run].first_slot;
    slots = length < slots ? length : slots;
  }
  return what.where->kind == placement_kind::cyclic
             ? slots * what.granule_bytes
             : arithmetic::multiply_divide(what.placed_bytes, slots, owners.slots);
}

} // namespace nodewise::agent
