// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the parts of make_plan share: each fills its part of one plan.
#pragma once

#include <string>

#include <nodewise/error.hpp>

#include "launch/plan.hpp"

namespace nodewise::launch {

struct planning {
  const run_options& options;
  const topology& here;
  environment get;
  plan& into;

  /// What is worth a warning, and under --strict the end: throws `not_started` then.
  void warn(std::string warning, const std::string& asked, const std::string& answered,
            const std::string& cure) const;
  /// What cannot be done as asked, and what is done instead.
  void cannot(const std::string& asked, const std::string& answered, const std::string& cure,
              const std::string& instead) const;
  /// Sets a variable of the program, and says so where the user's own had another value.
  void set(const char* name, std::string value) const;
};

/// `resolve(text)`, whose errors name the option.
template <class Resolve>
auto resolved(const typed_list& list, Resolve resolve) {
  try {
    return resolve(list.text);
  } catch (const error& e) {
    throw error(e.kind(), list.shown(), e.answered(), e.cure());
  }
}

/// Which processors, and the layout of threads on them (processors.cpp).
void plan_processors(const planning& now);
/// The layout that `--bind close` would give: where nothing binds threads, they are most likely so.
[[nodiscard]] team_layout close_layout(const planning& now);
/// The node of each thread, in order; where none is bound, as for threads bound close, which is
/// said of `asked`. Throws `error` (usage) where a thread's node has no memory.
[[nodiscard]] std::vector<node_id> owners_of_threads(const planning& now, const std::string& asked);
/// Where the threads are that use the memory, each node once; or where they might be.
[[nodiscard]] node_set nodes_of_threads(const planning& now);
/// Whether the plan file places anything by threads.
[[nodiscard]] bool plan_needs_owners(const run_options& options) noexcept;
/// The entries of the plan file as rules behind those that `into` has (planned_rules.cpp). What
/// cannot be done of it is said. `into.owners` must be there if `plan_needs_owners`.
void add_rules_of_plan(const planning& now, const std::string& program, agent_orders& into);
/// The memory policy, and the agent's orders; the layout must be there.
void plan_memory(const planning& now);
/// How much of the machine it has to know.
[[nodiscard]] sysfs_detail memory_detail_for(const run_options& options) noexcept;
/// The settings that contradict each other or the plan; it comes last, when the plan is complete.
void warn_of_conflicts(const planning& now);

} // namespace nodewise::launch
