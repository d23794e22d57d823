// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Remedies as sentences and as code to paste.
#pragma once

#include <vector>

#include "advise/finding.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

/// In the language of the code that touches the first of these sites' objects, for the runtimes
/// that the program has, most important first. `planned`: a plan handles it.
[[nodiscard]] std::vector<cure> cures_for(const analysis& of, pattern what, const positions& sites,
                                          bool planned);

} // namespace nodewise::advise
