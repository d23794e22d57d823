// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The speed of the kernel in allocating pages and in migrating them, GB/s.
#pragma once

#include "measure/visit.hpp"

namespace nodewise::measure {

/// Threads write a byte to each base page of fresh memory, each to a part of its own.
void run_work(const point& what, const touch_work& does, const bench& with, outcome& into);

/// One thread migrates pages from one node to another.
void run_work(const point& what, const migration_work& does, const bench& with, outcome& into);

} // namespace nodewise::measure
