// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A loop played event by event: each thread goes from page to page of its chunks, and all share
// the machine max-min fairly in between.
#pragma once

#include <cstdint>

#include "model/costs.hpp"
#include "model/loop.hpp"
#include "model/price.hpp"

namespace nodewise::model {

enum class pace {
  in_step,  ///< all threads run alike, as nothing in the model sets them apart
  drifting, ///< each piece of work takes an exponentially distributed time of the same mean
};

/// The whole loop; played is as much of it as `events` allow, in the right proportions. Drifting,
/// the time is what the threads needed until the first had nothing left, scaled to all of the loop.
/// Not for random access. Throws `error` (input) for arrays on nodes without memory.
[[nodiscard]] prediction replay(const machine_costs& on, const loop& what, pace how,
                                std::size_t events = 40'000, std::uint64_t seed = 1);

} // namespace nodewise::model
