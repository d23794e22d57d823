// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The plan of a program, and whether to offer it.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/planner.hpp"
#include "advise/proposal.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

/// Sites that a placement can help. None can help on a node that was full of cached files.
[[nodiscard]] positions placeable_sites(const analysis& of);

[[nodiscard]] plans::plan_file plan_of(const analysis& of, std::size_t program,
                                       const decision& made);
/// The program, its build and its threads, bound as in `threads`.
[[nodiscard]] plans::plan_file plan_without_entries(const analysis_input& of, std::size_t program,
                                                    const binding& threads);

/// If the plan might make the program slower, `refused` says so and the plan places nothing.
[[nodiscard]] proposal propose(const analysis& of, std::size_t program);

} // namespace nodewise::advise
