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

/// Enough that another seed changes the time by less than a percent.
inline constexpr std::size_t usual_pieces = 40'000;

/// The whole loop; played are about so many pieces of it (`sample_of`): what lies on one page in
/// every array. In step, the time until the last thread has ended. Drifting, at the rate that the
/// threads had together until the first ran out of work: not for threads with unequal work, and not
/// where `drifts` says no. Not for random access. Throws `error` (usage) as `check_loop`, (input)
/// for arrays on nodes without memory.
[[nodiscard]] prediction replay(const machine_costs& on, const loop& what, pace how,
                                std::size_t pieces = usual_pieces, std::uint64_t seed = 1);

/// Whether threads have enough pieces of work to drift apart.
[[nodiscard]] bool drifts(const loop& what) noexcept;

} // namespace nodewise::model
