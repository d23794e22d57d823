// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// State shared by the parts of make_plan; each fills its part of one plan.
#pragma once

#include "launch/plan.hpp"

namespace nodewise::launch {

struct planning {
  const run_options& options;
  const topology& here;
  environment get;
  plan& into;

  /// Adds a warning; under --strict throws `not_started` instead.
  void warn(std::string warning, const std::string& asked, const std::string& answered,
            const std::string& hint) const;
  /// Warns about a request that cannot be met, and describes what is done instead.
  void cannot(const std::string& asked, const std::string& answered, const std::string& hint,
              const std::string& instead) const;
  /// Sets a variable of the program, and warns if the user's own value differs.
  void set(const char* name, std::string value) const;
};

/// Which processors, and the layout of threads on them (processors.cpp).
void plan_processors(const planning& now);
/// The layout of `--bind close`: the most likely one if nothing binds threads.
[[nodiscard]] team_layout close_layout(const planning& now);
/// The node of each thread, in order. If none is bound, the layout of `--bind close` is assumed,
/// with a note that names `asked`. Throws `error` (usage) if a thread's node has no memory.
[[nodiscard]] std::vector<node_id> owners_of_threads(const planning& now, const std::string& asked);
/// The nodes where the threads that use the memory run, or may run; each node once.
[[nodiscard]] node_set nodes_of_threads(const planning& now);
/// Whether the plan file places anything by threads.
[[nodiscard]] bool plan_needs_owners(const run_options& options) noexcept;
/// Adds the entries of the plan file as rules after those of `into` (planned_rules.cpp) and warns
/// about entries that cannot be applied. `into.owners` must be set if `plan_needs_owners`.
void add_rules_of_plan(const planning& now, const std::string& program, agent_orders& into);
/// Plans the memory policy and the agent's orders; the layout must be known.
void plan_memory(const planning& now);
/// How much of the machine `plan_memory` needs to read.
[[nodiscard]] sysfs_detail memory_detail_for(const run_options& options) noexcept;

} // namespace nodewise::launch
