// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/candidates.hpp"

#include <iterator>
#include <ranges>
#include <set>

namespace nodewise::advise {

namespace {

using placements::kind;

/// Memories near the program's threads, each once, ascending.
positions memories_of(const analysis_input& of, const positions& nodes) {
  std::set<std::size_t> memories;
  for (const std::size_t node : nodes) {
    if (node != nowhere) {
      memories.insert(of.memory_of(node));
    }
  }
  return {memories.begin(), memories.end()};
}

/// Interleaving that uses memories without threads: over all memories, over the idle ones, and over
/// all weighted by bandwidth. Empty if every memory has threads.
std::vector<candidate> over_idle_memories(const analysis_input& of, const positions& used) {
  std::vector<placements::owner_run> idle;
  std::vector<placements::owner_run> all;
  std::vector<placements::owner_run> weighted;
  const auto bandwidth = [&](std::size_t n) { return of.costs.memory[n].value; };
  const positions memories =
      positions_below(of.nodes(), [&](std::size_t n) { return bandwidth(n) > 0; });
  const double least = std::ranges::min(memories | std::views::transform(bandwidth));
  for (const std::size_t n : memories) {
    const auto node = static_cast<std::size_t>(to_int(of.costs.nodes[n]));
    constexpr double finer = 2; // in halves of the slowest memory's weight
    constexpr double heaviest = 64;
    const double weight = std::round(std::min(finer * bandwidth(n) / least, heaviest));
    all.push_back({1, node});
    weighted.push_back({static_cast<std::uint64_t>(weight), node});
    if (!std::ranges::binary_search(used, n)) {
      idle.push_back({1, node});
    }
  }
  if (idle.empty()) {
    return {};
  }
  return {{{kind::interleave, all}}, {{kind::interleave, idle}}, {{kind::weighted, weighted}}};
}

model::page_map by_parts(const analysis_input& of, std::size_t pages,
                         const std::vector<placements::owner_run>& parts, const positions& nodes,
                         const model::page_map& otherwise) {
  const double all = sum_over(parts, &placements::owner_run::parts);
  std::vector<model::page_block> blocks;
  double before = 0;
  for (const placements::owner_run& run : parts) {
    before += static_cast<double>(run.parts);
    const auto last =
        static_cast<std::size_t>(std::round(static_cast<double>(pages) * before / all));
    if (run.owner >= nodes.size() || nodes[run.owner] == nowhere) {
      return otherwise;
    }
    if (blocks.empty() ? last > 0 : last > blocks.back().last) {
      blocks.push_back({last, of.memory_of(nodes[run.owner])});
    }
  }
  return blocks.empty() ? otherwise : model::page_map::of_blocks(std::move(blocks));
}

/// Moves pages in the memory of their first toucher's node with that thread; others stay.
model::page_map follow_touch(const analysis_input& of, const item& what, const positions& homes) {
  return map_after(what, [&](const profile::touched_run& run, std::size_t memory) {
    const std::size_t w = run.by ? what.first_worker + *run.by : nowhere;
    const std::size_t from = of.position_of(run.from);
    const bool moves =
        w < homes.size() && homes[w] != nowhere && from != nowhere && memory == of.memory_of(from);
    return moves ? of.memory_of(homes[w]) : memory;
  });
}

} // namespace

std::vector<candidate> candidates_by_item(const analysis_input& of,
                                          const std::vector<assignment>& all) {
  std::vector<candidate> made(of.items.size());
  for (const assignment& each : all) {
    for (const std::size_t i : each.items) {
      made[i] = each.how;
    }
  }
  return made;
}

model::page_map map_under(const analysis_input& of, const item& what, const candidate& how,
                          const positions& homes) {
  if (how.where.how == kind::none) {
    return homes.empty() ? what.now : follow_touch(of, what, homes);
  }
  const std::size_t pages = filled_pages(of, what);
  const positions nodes = nodes_of_threads(of, what.program, homes);
  const placements::traits& is = placements::traits_of(how.where.how);
  if (is.has_blocks() || is.owners == placements::owned_by::threads) {
    return by_parts(of, pages,
                    is.has_blocks() ? parts_for(positions_to(nodes.size())) : how.where.owners,
                    nodes, what.now);
  }
  positions memories;
  for (const placements::owner_run& run : how.where.owners) {
    memories.insert(memories.end(), run.parts, of.position_of(placements::node_of(run)));
  }
  if (memories.empty()) {
    memories = memories_of(of, nodes);
  }
  return memories.empty() ? what.now : model::page_map::in_turn(memories);
}

candidate on_thread(std::size_t thread) {
  return {{kind::thread, {{1, thread}}}};
}

std::vector<candidate> candidates_for(const analysis& of, const positions& items,
                                      const positions& homes, std::size_t most_runs) {
  const std::vector<item>& all = of.items;
  const std::size_t most =
      *std::ranges::max_element(items, {}, [&](std::size_t i) { return all[i].bytes(); });
  std::vector<candidate> made(1);
  const positions nodes = nodes_of_threads(of, all[most].program, homes);
  const positions memories = memories_of(of, nodes);
  if (memories.empty()) {
    return made;
  }
  const auto add_idle = [&] {
    std::ranges::move(over_idle_memories(of, memories), std::back_inserter(made));
  };
  if (of.shapes[most].anyones()) { // a block would have an owner only by chance
    made.push_back({{kind::interleave}});
    add_idle();
    return made;
  }
  const use_map seen(of, all[most], homes);
  const auto top = seen.greatest_user();
  if (all[most].alone) { // no other thread needs it near, and other memories are idle anyway
    if (top) {
      made.push_back(on_thread(*top));
    }
    return made;
  }
  use_map::run_list exact = of.assumed ? use_map::run_list{} : seen.parts(most_runs);
  if (std::ranges::find(nodes, nowhere) == nodes.end()) {
    // The agent deals out blocks of a group, and which pages they have was not recorded. Equal
    // parts are no simpler than an exact map of the same length.
    if (all[most].what->kind == profile::object_kind::group) {
      if (exact.runs.size() < 2 || exact.runs.size() > nodes.size()) {
        made.push_back({{kind::map, parts_for(positions_to(nodes.size()))}});
      }
    } else {
      made.push_back({{kind::blocked}});
    }
  }
  if (const auto& users = seen.users(); users.size() > 1 && users.size() < nodes.size()) {
    made.push_back({{kind::map, parts_for(users)}});
  }
  if (top) {
    made.push_back(on_thread(*top));
  }
  if (!of.assumed) {
    if (exact.runs.size() > 1) {
      made.push_back({{kind::map, std::move(exact.runs)}, exact.lost});
    }
    made.push_back({{kind::interleave}});
    add_idle();
  }
  for (candidate& each : made) {
    each.misplaced = seen.misplaced(of, map_under(of, all[most], each, homes));
  }
  return made;
}

} // namespace nodewise::advise
