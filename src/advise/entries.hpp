// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From what is to be done to objects to conditions that find them again.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/planner.hpp"
#include "plan/plan.hpp"

namespace nodewise::advise {

/// Entries for the program's objects among these. An object is found again by its kind and symbol,
/// or by as many returns of its allocation as no other site shares; by its size, from half to
/// twice; and by its order only where objects of its site are placed differently.
[[nodiscard]] std::vector<plans::entry> entries_for(const analysis& of, std::size_t program,
                                                    const std::vector<assignment>& objects);

/// The builds of the libraries that the entries name.
[[nodiscard]] std::vector<plans::library> libraries_of(const std::vector<plans::entry>& entries,
                                                       const profile::program& in);

} // namespace nodewise::advise
