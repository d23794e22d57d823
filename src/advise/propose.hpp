// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The plan of a program, and whether to offer it.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/advise.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

[[nodiscard]] bool is_worth_it(const gain& of);

/// Samples behind what was seen of these sites; 0 if it was counted.
[[nodiscard]] double samples_of(const situation& of, const std::vector<std::size_t>& sites);

/// What might make the program slower says so in `refused`, and places nothing.
[[nodiscard]] proposal propose(const picture& of, std::size_t program);

} // namespace nodewise::advise
