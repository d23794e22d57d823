// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One plan for several ranks of a program.
#pragma once

#include "advise/advise.hpp"
#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// Makes the plan of `into` one for the rank of `other`, too: its entries with the sizes of both,
/// and those for objects that only the other rank has. Where the two want different things,
/// `disagreement` and a remark say which, and the plan stays as it is.
void join(const analysis_input& of, const proposal& other, proposal& into);

} // namespace nodewise::advise
