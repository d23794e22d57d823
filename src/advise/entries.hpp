// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From decisions about objects to plan conditions that identify those objects again.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/candidates.hpp"
#include "plan/plan.hpp"

namespace nodewise::advise {

/// Entries for those of these objects that belong to the program. A condition has the object's kind
/// and symbol, or as many return addresses as distinguish its site from all others; a least size;
/// and its order only if objects of its site are placed differently.
[[nodiscard]] std::vector<plans::entry> entries_for(const analysis& of, std::size_t program,
                                                    const std::vector<assignment>& objects);

/// The builds of the libraries that appear in the entries.
[[nodiscard]] std::vector<plans::library> libraries_of(const std::vector<plans::entry>& entries,
                                                       const profile::program& in);

} // namespace nodewise::advise
