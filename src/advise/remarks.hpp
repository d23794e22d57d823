// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "advise/advise.hpp"
#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// What all of the advice rests on: figures of the machine that are assumed, traffic that is not in
/// the prediction. Each sentence once.
void add_remarks(const analysis_input& of, advice& into);

} // namespace nodewise::advise
