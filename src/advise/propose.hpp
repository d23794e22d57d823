// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The plan of a program, and whether to offer it.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/advise.hpp"
#include "advise/planner.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

[[nodiscard]] bool is_worth_it(const gain& of);

/// Samples behind what was seen of these sites; 0 if it was counted.
[[nodiscard]] double samples_of(const analysis_input& of, const std::vector<std::size_t>& sites);

/// Those that a placement can do something for: none makes room on a node that was full of cached
/// files.
[[nodiscard]] std::vector<std::size_t> placeable_sites(const analysis& of);

[[nodiscard]] plans::plan_file plan_of(const analysis& of, std::size_t program,
                                       const decision& made);
/// The program, its build and its threads, bound so.
[[nodiscard]] plans::plan_file plan_without_entries(const analysis_input& of, std::size_t program,
                                                    const binding& threads);

/// What might make the program slower says so in `refused`, and places nothing.
[[nodiscard]] proposal propose(const analysis& of, std::size_t program);

} // namespace nodewise::advise
