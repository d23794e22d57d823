// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads change nodes and leave behind the pages that they, or threads before them, touched.
#include <set>

#include "advise/patterns.hpp"
#include "advise/planner.hpp"

namespace nodewise::advise {

namespace {

/// Number of plan threads: a thread that is started anew in each loop counts once.
std::size_t roles_of(const analysis_input& of, const positions& workers) {
  std::set<std::size_t> numbers;
  for (const std::size_t w : workers) {
    numbers.insert(of.workers[w].number);
  }
  return numbers.size();
}

/// Active workers that have a place in plans.
positions members(const analysis_input& of) {
  return positions_where(of.workers,
                         [](const worker& each) { return each.active && each.number != nowhere; });
}

positions unpinned_threads_sites(const analysis& of, const std::vector<char>&) {
  if (std::ranges::none_of(of.workers, &worker::roams) || of.programs.size() > 1) {
    return {};
  }
  return sites_in_use(of);
}

suspicion describe_unpinned_threads(const analysis& of, const positions& sites) {
  const positions moved = positions_where(of.workers, &worker::roams);
  std::uint64_t migrations = 0;
  for (const std::size_t w : moved) {
    migrations += of.thread(of.workers[w]).migrations;
  }
  const std::size_t roles = roles_of(of, moved);
  suspicion made{.title = fmt::format("{} did not stay on one node: {} not pinned",
                                      counted(roles, "thread"), roles == 1 ? "it is" : "they are"),
                 .evidence = {fmt::format("{} of {} worked on more than one node, or touched pages "
                                          "first on another",
                                          counted(roles, "thread"), roles_of(of, members(of)))},
                 .remarks = usual_doubts(of, sites)};
  if (migrations > 0) {
    made.evidence.push_back(fmt::format("they changed processors {}", counted(migrations, "time")));
  }
  const binding threads = choose_binding(of, of.programs.front());
  const decision bound = decide(of, {}, threads);
  made.after = bound.after;
  made.worth = worth_of_placing(of, bound.before, bound.after, 0);
  made.evidence.push_back(
      threads.policy == bind_policy::none
          ? "the model prefers no binding"
          : fmt::format("bound {}, each stays on one node", to_string(threads.policy)));
  return made;
}

} // namespace

const detector unpinned_threads(pattern::unpinned_threads, needs_threads, unpinned_threads_sites,
                                describe_unpinned_threads, command,
                                {"pin the threads",
                                 "nodewise run --bind close -- PROGRAM\n# or\n"
                                 "export OMP_PLACES=cores OMP_PROC_BIND=close\n"},
                                scope::program);

} // namespace nodewise::advise
