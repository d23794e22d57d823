// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <nodewise/id_set.hpp>

#include "sys/perf.hpp"

namespace nodewise::observe {

/// A ring and the event that owns it. The event outlives all threads whose samples go there.
struct anchored_ring {
  sys::perf_event anchor;
  sys::perf_ring ring;
};

/// The rings of one processor.
struct processor_rings {
  cpu_id cpu{};
  anchored_ring samples;
  anchored_ring stacks; ///< has no ring if there are no stack copies
};

/// Rings for all processors: `bytes` for samples and half of that for stack copies; smaller if the
/// limit of locked memory requires it. Throws `error` (system).
[[nodiscard]] std::vector<processor_rings> make_rings(const cpu_set& cpus, std::size_t bytes,
                                                      bool with_stacks);

} // namespace nodewise::observe
