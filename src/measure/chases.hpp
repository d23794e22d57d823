// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What one access takes, ns.
#pragma once

#include "measure/run.hpp"

namespace nodewise::measure {

/// A random cycle over the lines of a buffer, each load's address the one before has brought.
void run_chase(const point& what, const chase_work& does, const bench& with, outcome& into);

/// A cache line that two processors write in turn: half of a round trip.
void run_transfer(const point& what, const transfer_work& does, const bench& with, outcome& into);

} // namespace nodewise::measure
