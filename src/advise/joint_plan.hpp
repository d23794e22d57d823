// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One plan for several ranks of a program.
#pragma once

#include "advise/analysis_input.hpp"
#include "advise/proposal.hpp"

namespace nodewise::advise {

/// Extends the plan of `into` to the rank of `other`: its entries cover the sizes of both, and
/// entries for objects that only the other rank has are added. If the two ranks conflict,
/// `disagreement` and a remark say where, and the plan stays as it is.
void join(const analysis_input& of, const proposal& other, proposal& into);

} // namespace nodewise::advise
