// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Computes the time of traffic. Memories, links and cores are shared max-min fairly; a thread that
// has ended leaves its share to the others (docs/model.md).
#pragma once

#include "model/costs.hpp"
#include "model/prediction.hpp"
#include "model/traffic.hpp"

namespace nodewise::model {

enum class work {
  fixed,  ///< each thread has its own: static schedules; ends with the last thread
  pooled, ///< faster threads do more: dynamic schedules; all end together
};

/// Throws `error` (input) for traffic with a node without memory.
[[nodiscard]] prediction price(const machine_costs& on, const traffic& what,
                               work how = work::fixed);

} // namespace nodewise::model
