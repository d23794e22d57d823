// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The best placement of objects together, by the model of the whole program.
#pragma once

#include <nodewise/team_layout.hpp>

#include "advise/candidates.hpp"
#include "advise/price.hpp"

namespace nodewise::advise {

/// The nodes where the program's threads are to run.
struct binding {
  bind_policy policy = bind_policy::none;
  positions homes;    ///< node by worker; empty: as now
  std::string remark; ///< empty, or a sentence
};

struct decision {
  std::vector<assignment> objects;  ///< without those that are left as they are
  std::vector<std::string> remarks; ///< what there was no room for; a sentence each
  binding threads;
  course before;
  course after;
  /// For a placement that the model prefers but that might be slower: it is not taken.
  std::optional<gain> gamble;
};

/// The node position of each worker if a policy binds the program's threads; empty if they cannot
/// be bound.
[[nodiscard]] positions homes_under(const analysis_input& of, std::size_t program,
                                    bind_policy policy);

/// The policy that threads already follow. For threads that change their nodes, the one that the
/// model prefers.
[[nodiscard]] binding choose_binding(const analysis& of, std::size_t program);

/// Places only objects of these sites (positions; skips those that cannot be placed), and leaves
/// every object that brings almost nothing. By the model the result is never slower than now (on a
/// machine without figures, by at most one percent). It has more far traffic than now only if it is
/// faster even in the worst case of what the model does not know. `threads`: where they will run;
/// pages of objects that are left go where first touch by these threads puts them.
[[nodiscard]] decision decide(const analysis& of, const positions& sites, const binding& threads);

/// The fastest by the model's own figures, despite their uncertainty: for callers that can try it.
[[nodiscard]] decision decide_boldly(const analysis& of, const positions& sites,
                                     const binding& threads);

/// Places no objects. Binds the threads, unless the model expects that to be slower than now.
[[nodiscard]] decision bound_alone(const analysis& of, const binding& threads);

} // namespace nodewise::advise
