// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Replays a loop event by event: each thread goes from page to page of its chunks, and between
// events all threads share the machine max-min fairly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/costs.hpp"
#include "model/loop.hpp"
#include "model/prediction.hpp"

namespace nodewise::model {

enum class pace {
  in_step,  ///< all threads run alike: the model does not distinguish them
  drifting, ///< each piece of work takes an exponentially distributed time with the same mean
};

/// Enough that another seed changes the time by less than a percent.
inline constexpr std::size_t usual_pieces = 40'000;

/// Predicts the whole loop from a replay of about `pieces` pieces (`sample_of`); a piece is on one
/// page in every array. In step: the time until the last thread has ended. Drifting: from the rate
/// of all threads until the first runs out of work; not for threads with unequal work, and not if
/// `drifts` is false. Not for random access. Throws `error` (usage) as `check_loop`, (input) for
/// arrays on nodes without memory.
[[nodiscard]] prediction replay(const machine_costs& on, const loop& what, pace how,
                                std::size_t pieces = usual_pieces, std::uint64_t seed = 1);

/// Whether threads have enough pieces of work to drift apart.
[[nodiscard]] bool drifts(const loop& what) noexcept;

} // namespace nodewise::model
