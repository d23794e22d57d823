// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The plan of a program, what the model expects of it, and whether to offer it.
#pragma once

#include "advise/planner.hpp"

namespace nodewise::advise {

/// Entries for those of these objects that belong to the program. A condition has the object's kind
/// and symbol, or as many return addresses as distinguish its site from all others; a least size;
/// and its order only if objects of its site are placed differently.
[[nodiscard]] std::vector<plans::entry> entries_for(const analysis& of, std::size_t program,
                                                    const std::vector<assignment>& objects);

/// The builds of the libraries that appear in the entries.
[[nodiscard]] std::vector<plans::library> libraries_of(const std::vector<plans::entry>& entries,
                                                       const profile::program& in);

/// The times of the phase of use and of the initialisation before it.
struct run_times {
  prediction use;
  prediction begun; ///< no bytes if it was not counted
};

/// As the program ran.
[[nodiscard]] run_times times_before(const analysis& of);
/// With the decision's placement; does not use `after`.
[[nodiscard]] run_times times_after(const analysis& of, const decision& made);

[[nodiscard]] outcome outcome_of(const analysis_input& of, const run_times& what);

/// How often the program must repeat the observed phase of use until a slower initialisation pays
/// off; empty if it pays off in the observed run. Infinite if it never does.
[[nodiscard]] std::optional<double> pays_from(const run_times& before, const run_times& after);

/// Sites that a placement can help. None can help on a node that was full of cached files.
[[nodiscard]] positions placeable_sites(const analysis& of);

[[nodiscard]] plans::plan_file plan_of(const analysis& of, std::size_t program,
                                       const decision& made);
/// The program, its build and its threads, bound as in `threads`.
[[nodiscard]] plans::plan_file plan_without_entries(const analysis_input& of, std::size_t program,
                                                    const binding& threads);

/// If the plan might make the program slower, `refused` says so and the plan places nothing.
[[nodiscard]] proposal propose(const analysis& of, std::size_t program);

/// Extends the plan of `into` to the rank of `other`: its entries cover the sizes of both, and
/// entries for objects that only the other rank has are added. If the two ranks conflict,
/// `disagreement` and a remark say where, and the plan stays as it is.
void join(const analysis_input& of, const proposal& other, proposal& into);

} // namespace nodewise::advise
