// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads on fewer nodes than there are: the other memories are idle.
#include "advise/pattern_tools.hpp"
#include <numeric>

#include "advise/planner.hpp"

namespace nodewise::advise {

namespace {

struct crew {
  std::size_t threads = 0;           ///< that use memory
  std::vector<std::size_t> nodes;    ///< where they are, ascending
  std::vector<std::size_t> memories; ///< of the machine
};

crew crew_of(const analysis& of) {
  crew made;
  const flow_of_time flow = flow_under(of.input, {}, {});
  std::vector<double> bytes(of.input.workers().size(), 0);
  for (std::size_t w = 0; w < bytes.size(); ++w) {
    for (std::size_t n = 0; n < of.input.nodes(); ++n) {
      bytes[w] += flow.front().read[w * (of.input.nodes() + 1) + n];
    }
  }
  constexpr double works = 0.1;
  const double least = works * (bytes.empty() ? 0 : std::ranges::max(bytes));
  for (std::size_t w = 0; w < bytes.size(); ++w) {
    made.threads += bytes[w] > 0 && bytes[w] >= least ? 1U : 0U;
    // Also count threads whose data stays in caches: their nodes are not idle.
    if (of.input.workers()[w].active && of.input.workers()[w].home != nowhere) {
      made.nodes.push_back(of.input.workers()[w].home);
    }
  }
  std::ranges::sort(made.nodes);
  made.nodes.erase(std::unique(made.nodes.begin(), made.nodes.end()), made.nodes.end());
  for (std::size_t n = 0; n < of.input.nodes(); ++n) {
    const memory_node* const node =
        of.input.machine().machine().find_node(of.input.costs().nodes[n]);
    const bool plain =
        node != nullptr && (node->kind == memory_kind::dram || node->kind == memory_kind::unknown);
    if (of.input.costs().memory[n].value > 0 && plain) {
      made.memories.push_back(n);
    }
  }
  return made;
}

bool leaves_memories_idle(const analysis& of, const crew& who) {
  return who.threads > 0 && who.nodes.size() < who.memories.size() && !of.input.assumed();
}

/// Whether the bandwidth of one core is known on all of their nodes.
bool is_core_known(const analysis& of, const crew& who) {
  return std::ranges::all_of(
      who.nodes, [&](std::size_t n) { return of.input.costs().core[n].value != model::unlimited; });
}

std::string unjudged(const analysis& of) {
  const crew who = crew_of(of);
  return who.threads == 1 && leaves_memories_idle(of, who) && !is_core_known(of, who)
             ? "one thread alone uses memory, and what one core can draw is not known "
               "(core_bandwidth)"
             : "";
}

std::vector<std::size_t> few_threads_sites(const analysis& of, const std::vector<char>&) {
  const crew who = crew_of(of);
  std::vector<std::size_t> found;
  if (!leaves_memories_idle(of, who) || (who.threads < 2 && !is_core_known(of, who))) {
    return found;
  }
  for (std::size_t s = 0; s < of.input.sites().size(); ++s) {
    if (of.input.sites()[s].bytes > 0 && is_worth_a_look(of.input, of.input.sites()[s])) {
      found.push_back(s);
    }
  }
  return found;
}

/// All objects interleaved over all memories.
course in_turn(const analysis& of, const std::vector<std::size_t>& sites, const crew& who) {
  const model::page_map map = model::page_map::in_turn(who.memories);
  page_maps spread(of.input.items().size(), nullptr);
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.input.sites()[s].items) {
      spread[i] = &map;
    }
  }
  return {flow_under(of.input, spread, of.swept)};
}

suspicion describe_few_threads(const analysis& of, const std::vector<std::size_t>& sites) {
  const crew who = crew_of(of);
  suspicion made{.title = count_of(who.threads, "thread") + " on " +
                          count_of(who.nodes.size(), "node") + " of " +
                          std::to_string(who.memories.size()) + ": the other memories are idle",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites),
                 .after = in_turn(of, sites, who)};
  if (who.threads > who.nodes.size() && of.input.programs().size() == 1) {
    const std::vector<std::size_t> homes =
        homes_under(of.input, of.input.programs().front(), bind_policy::spread);
    if (!homes.empty()) {
      std::vector<std::size_t> all(of.input.sites().size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      course apart = decide(of, all, {bind_policy::spread, homes, ""}).after;
      const auto seconds = [&](const course& what) {
        return tell(of.input, of.input.costs(), what).seconds;
      };
      if (seconds(apart) < seconds(*made.after)) {
        made.after = std::move(apart);
        made.evidence.emplace_back("there are enough threads for more nodes: bound spread they "
                                   "bring more memories to work");
      }
    }
  }
  if (!is_core_known(of, who)) {
    made.remarks.emplace_back("what one core can draw is not known (core_bandwidth): the gain is "
                              "less if these threads cannot use more than the memories they have");
  }
  return made;
}

} // namespace

const detector few_threads{.what = pattern::few_threads,
                           .needs = needs_uses | needs_threads,
                           .explains_objects = false,
                           .placement_cures = false,
                           .sites = few_threads_sites,
                           .describe = describe_few_threads,
                           .unjudged = unjudged};

} // namespace nodewise::advise
