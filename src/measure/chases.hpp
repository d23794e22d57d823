// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The time of one access, in ns.
#pragma once

#include "measure/visit.hpp"

namespace nodewise::measure {

/// Follows a random cycle over the lines of a buffer: each load returns the address of the next.
void run_work(const point& what, const chase_work& does, const bench& with, outcome& into);

/// Lets two processors write a cache line in turn; the figure is half of a round trip.
void run_work(const point& what, const transfer_work& does, const bench& with, outcome& into);

} // namespace nodewise::measure
