// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads change nodes and leave behind the pages that they, or threads before them, touched.
#include <set>

#include "advise/pattern_tools.hpp"
#include "advise/planner.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> movers(const analysis& of) {
  std::vector<std::size_t> found;
  for (std::size_t w = 0; w < of.input.workers().size(); ++w) {
    if (of.input.workers()[w].roams) {
      found.push_back(w);
    }
  }
  return found;
}

/// Number of plan threads: a thread that is started anew in each loop counts once.
std::size_t roles_of(const analysis_input& of, const std::vector<std::size_t>& workers) {
  std::set<std::size_t> numbers;
  for (const std::size_t w : workers) {
    numbers.insert(of.workers()[w].number);
  }
  return numbers.size();
}

/// Active workers that have a place in plans.
std::vector<std::size_t> members(const analysis_input& of) {
  std::vector<std::size_t> found;
  for (std::size_t w = 0; w < of.workers().size(); ++w) {
    if (of.workers()[w].active && of.workers()[w].number != nowhere) {
      found.push_back(w);
    }
  }
  return found;
}

std::vector<std::size_t> unpinned_threads_sites(const analysis& of, const std::vector<char>&) {
  if (movers(of).empty() || of.input.programs().size() > 1) {
    return {};
  }
  return sites_where(of, std::vector<char>(of.input.sites().size(), 1),
                     [](const item& what, const shape&) { return what.units > 0; });
}

suspicion describe_unpinned_threads(const analysis& of, const std::vector<std::size_t>& sites) {
  const std::vector<std::size_t> moved = movers(of);
  std::uint64_t migrations = 0;
  for (const std::size_t w : moved) {
    const worker& each = of.input.workers()[w];
    migrations += of.input.program(each.program).threads[each.thread].migrations;
  }
  const std::size_t roles = roles_of(of.input, moved);
  const bool one = roles == 1;
  suspicion made{.title = count_of(roles, "thread") +
                          (one ? " was not on one node: it is not pinned"
                               : " were not on one node: they are not pinned"),
                 .evidence = {count_of(roles, "thread") + " of " +
                              std::to_string(roles_of(of.input, members(of.input))) +
                              (one ? " was" : " were") +
                              " seen at work on more than one node, or pages were touched first "
                              "on another"},
                 .remarks = usual_doubts(of, sites)};
  if (migrations > 0) {
    made.evidence.push_back("they changed processors " + count_of(migrations, "time"));
  }
  const binding threads = choose_binding(of, of.input.programs().front());
  const decision bound = decide(of, {}, threads);
  made.after = bound.after;
  made.worth = worth_of_placing(of.input, bound.before, bound.after, 0);
  made.evidence.push_back(threads.policy == bind_policy::none
                              ? "no binding is better by the model"
                              : "bound " + std::string(to_string(threads.policy)) +
                                    ", each keeps one node");
  return made;
}

} // namespace

const detector unpinned_threads{.what = pattern::unpinned_threads,
                                .needs = needs_threads,
                                .explains_objects = false,
                                .placement_cures = false,
                                .sites = unpinned_threads_sites,
                                .describe = describe_unpinned_threads};

} // namespace nodewise::advise
