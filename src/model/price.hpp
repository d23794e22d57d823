// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From traffic to time. Memories, links and cores are shared max-min fairly; a thread that has
// ended leaves its share to the others (docs/model.md).
#pragma once

#include <cstddef>
#include <vector>

#include "model/costs.hpp"
#include "model/traffic.hpp"

namespace nodewise::model {

enum class resource_kind {
  memory, ///< of a node
  link,
  core,   ///< what the cores of a node can have in flight
  thread, ///< what a thread would do if memory cost nothing
};

/// A part of the machine in a prediction.
struct resource_load {
  resource_kind kind = resource_kind::memory;
  std::size_t at = 0;     ///< position of the node, or of the link
  double bytes_per_s = 0; ///< its capacity
  double busy = 0;        ///< 0..1, over the whole time
  double bound = 0;       ///< 0..1 of the threads' time: this was what they waited for
};

struct prediction {
  double seconds = 0;
  double bytes = 0;
  std::vector<resource_load> loads; ///< of all that is used; what binds most first

  [[nodiscard]] double bytes_per_s() const noexcept { return seconds > 0 ? bytes / seconds : 0; }
};

enum class work {
  fixed,  ///< each thread has its own: static schedules; the last one ends it
  pooled, ///< who is faster does more: dynamic schedules; all end together
};

/// Throws `error` (input) for traffic with a node that has no memory.
[[nodiscard]] prediction price(const machine_costs& on, const traffic& what,
                               work how = work::fixed);

} // namespace nodewise::model
