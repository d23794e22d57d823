// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads on fewer nodes than there are: the other memories are idle.
#include "advise/patterns.hpp"
#include "advise/planner.hpp"

namespace nodewise::advise {

namespace {

struct crew {
  std::size_t threads = 0; ///< that use memory
  positions nodes;         ///< where they are, ascending
  positions memories;      ///< of the machine
};

crew crew_of(const analysis& of) {
  crew made;
  const flow_of_time flow = flow_under(of, {}, {});
  std::vector<double> bytes(of.workers.size(), 0);
  for (std::size_t w = 0; w < bytes.size(); ++w) {
    for (std::size_t n = 0; n < of.nodes(); ++n) {
      bytes[w] += flow.front().read[w * (of.nodes() + 1) + n];
    }
  }
  constexpr double least_part = 0.1;
  const double least = least_part * (bytes.empty() ? 0 : std::ranges::max(bytes));
  for (std::size_t w = 0; w < bytes.size(); ++w) {
    made.threads += bytes[w] > 0 && bytes[w] >= least ? 1U : 0U;
    // Also count threads whose data stays in caches: their nodes are not idle.
    if (of.workers[w].active && of.workers[w].home != nowhere) {
      made.nodes.push_back(of.workers[w].home);
    }
  }
  std::ranges::sort(made.nodes);
  made.nodes.erase(std::unique(made.nodes.begin(), made.nodes.end()), made.nodes.end());
  made.memories = positions_below(of.nodes(), [&](std::size_t n) {
    const memory_node* const node = of.machine.machine().find_node(of.number_of(n));
    return of.costs.memory[n].value > 0 && node != nullptr &&
           (node->kind == memory_kind::dram || node->kind == memory_kind::unknown);
  });
  return made;
}

bool leaves_memories_idle(const analysis& of, const crew& who) {
  return who.threads > 0 && who.nodes.size() < who.memories.size() && !of.assumed;
}

/// Whether the bandwidth of one core is known on all of their nodes.
bool is_core_known(const analysis& of, const crew& who) {
  return std::ranges::all_of(
      who.nodes, [&](std::size_t n) { return of.costs.core[n].value != model::unlimited; });
}

std::string unjudged(const analysis& of) {
  const crew who = crew_of(of);
  return who.threads == 1 && leaves_memories_idle(of, who) && !is_core_known(of, who)
             ? "only one thread uses memory, and the bandwidth of one core is unknown "
               "(core_bandwidth)"
             : "";
}

positions few_threads_sites(const analysis& of, const std::vector<char>&) {
  const crew who = crew_of(of);
  if (!leaves_memories_idle(of, who) || (who.threads < 2 && !is_core_known(of, who))) {
    return {};
  }
  return positions_where(
      of.sites, [&](const site& each) { return each.bytes > 0 && is_worth_a_look(of, each); });
}

/// All objects interleaved over all memories.
course in_turn(const analysis& of, const positions& sites, const crew& who) {
  const model::page_map map = model::page_map::in_turn(who.memories);
  page_maps spread(of.items.size(), nullptr);
  for (const std::size_t i : of.items_of(sites)) {
    spread[i] = &map;
  }
  return {flow_under(of, spread, of.swept)};
}

/// With the threads bound to more nodes; empty if they cannot be bound.
std::optional<course> spread_out(const analysis& of, const crew& who) {
  if (who.threads <= who.nodes.size() || of.programs.size() != 1) {
    return std::nullopt;
  }
  const positions homes = homes_under(of, of.programs.front(), bind_policy::spread);
  const positions all = positions_to(of.sites.size());
  return homes.empty() ? std::nullopt
                       : std::optional(decide(of, all, {bind_policy::spread, homes, ""}).after);
}

suspicion describe_few_threads(const analysis& of, const positions& sites) {
  const crew who = crew_of(of);
  suspicion made{.title = fmt::format("{} on {} of {}: the other memories are idle",
                                      counted(who.threads, "thread"),
                                      counted(who.nodes.size(), "node"), who.memories.size()),
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites),
                 .after = in_turn(of, sites, who)};
  const auto seconds = [&](const course& what) { return predict(of, what).seconds; };
  if (std::optional<course> apart = spread_out(of, who);
      apart && seconds(*apart) < seconds(*made.after)) {
    made.after = std::move(apart);
    made.evidence.emplace_back("there are enough threads for more nodes: bound spread, they use "
                               "more memories");
  }
  if (!is_core_known(of, who)) {
    made.remarks.emplace_back("the bandwidth of one core is unknown (core_bandwidth): the gain is "
                              "smaller if these threads cannot use more than the memories that "
                              "they have");
  }
  return made;
}

} // namespace

const detector few_threads(pattern::few_threads, needs_uses | needs_threads, few_threads_sites,
                           describe_few_threads, command,
                           {"use threads on all nodes, or pages on all nodes",
                            "nodewise run --bind spread -- PROGRAM\n"
                            "nodewise run --memory interleave -- PROGRAM\n"},
                           scope::program, unjudged);

} // namespace nodewise::advise
