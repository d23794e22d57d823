// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Visits a point on this machine: measures it for a limited time.
#pragma once

#include "measure/visit.hpp"

namespace nodewise::measure {

/// Allocates memory, starts threads and releases both. Takes at least one sample; stops once three
/// of this visit agree within a hundredth. Each sample has its own memory, since allocation decides
/// where a physical page lies in the caches; six samples of a chase share memory. Checks once what
/// a kernel computes. If the system refuses, sets `unavailable` to its answer, unless earlier
/// visits had samples. Throws only if memory of our own runs out.
void visit_point(const point& what, const bench& with, outcome& into);

} // namespace nodewise::measure
