// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Many small blocks that one thread made, and that threads of all nodes use.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

// A site with this many blocks has members of something, not separate arrays.
constexpr std::size_t many = 16;

bool are_members(const analysis_input& of, const site& which) {
  return which.items.size() >= many ||
         of.items()[which.items.front()].what->kind == profile::object_kind::group;
}

/// Whether one thread touched all of it and it is on one node, though each block may have one user.
bool is_made_by_one(const analysis& of, const site& which) {
  double remote = 0;
  const shape& first = of.shapes[which.items.front()];
  for (const std::size_t i : which.items) {
    const item& one = of.input.items()[i];
    const shape& how = of.shapes[i];
    if (one.units > 0 && (!how.touched_by_one() || !how.on_one_node() ||
                          how.toucher != first.toucher || how.memory != first.memory)) {
      return false;
    }
    remote += how.remote * one.bytes();
  }
  return remote >= some_remote * which.bytes;
}

std::vector<std::size_t> dynamic_members_sites(const analysis& of, const std::vector<char>& free) {
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < of.input.sites().size(); ++s) {
    const site& each = of.input.sites()[s];
    if (free[s] != 0 && each.bytes > 0 && is_worth_a_look(of.input, each) &&
        are_members(of.input, each) && is_made_by_one(of, each)) {
      found.push_back(s);
    }
  }
  return found;
}

suspicion describe_dynamic_members(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) +
                          ": many blocks, all made by one thread and so on one node",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  std::uint64_t blocks = 0;
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.input.sites()[s].items) {
      blocks += of.input.items()[i].what->blocks;
    }
  }
  made.evidence.insert(made.evidence.begin(), count_of(blocks, "block"));
  return made;
}

} // namespace

const detector dynamic_members{.what = pattern::dynamic_members,
                               .needs = needs_faults | needs_objects,
                               .sites = dynamic_members_sites,
                               .describe = describe_dynamic_members};

} // namespace nodewise::advise
