// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "advise/advise.hpp"
#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// Adds remarks that concern all advice: assumed figures of the machine, and traffic that the
/// prediction leaves out. Each sentence once.
void add_remarks(const analysis_input& of, advice& into);

} // namespace nodewise::advise
