// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Many small blocks that one thread made, and that threads of all nodes use.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

// A site with this many blocks has members of something, not separate arrays.
constexpr std::size_t many = 16;

bool are_members(const analysis_input& of, const site& which) {
  return which.items.size() >= many ||
         of.items[which.items.front()].what->kind == profile::object_kind::group;
}

/// Whether one thread touched all of it and it is on one node, though each block may have one user.
bool is_made_by_one(const analysis& of, const site& which) {
  const shape& first = of.shapes[which.items.front()];
  return remote_bytes(of, which.items) >= some_remote * which.bytes &&
         std::ranges::all_of(which.items, [&](std::size_t i) {
           const shape& how = of.shapes[i];
           return of.items[i].units <= 0 ||
                  (how.touched_by_one() && how.on_one_node() && how.toucher == first.toucher &&
                   how.memory == first.memory);
         });
}

positions dynamic_members_sites(const analysis& of, const std::vector<char>& free) {
  return positions_below(free.size(), [&](std::size_t s) {
    const site& each = of.sites[s];
    return free[s] != 0 && each.bytes > 0 && is_worth_a_look(of, each) && are_members(of, each) &&
           is_made_by_one(of, each);
  });
}

suspicion describe_dynamic_members(const analysis& of, const positions& sites) {
  std::uint64_t blocks = 0;
  for (const std::size_t i : of.items_of(sites)) {
    blocks += of.items[i].what->blocks;
  }
  return usual(of, sites, "many blocks, all touched first by one thread and therefore on one node",
               {.first = counted(blocks, "block")});
}

std::vector<cure> dynamic_members_cures(const subject& of, const remedy& /*with*/) {
  return loops(of,
               "make each object in the thread that will work on it, and hold pointers to "
               "them",
               "static", of.array + "[i] = new T(...); // its members are then local, too");
}

} // namespace

const detector dynamic_members(pattern::dynamic_members, needs_faults | needs_objects,
                               dynamic_members_sites, describe_dynamic_members,
                               dynamic_members_cures);

} // namespace nodewise::advise
