// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nodewise/id_set.hpp>

#include "sys/perf.hpp"

namespace nodewise::observe {

/// A ring and the event that has it, which outlives all threads whose samples go there.
struct anchored_ring {
  sys::perf_event anchor;
  sys::perf_ring ring;
};

/// What there is for one processor.
struct processor_rings {
  cpu_id cpu{};
  anchored_ring samples;
  anchored_ring stacks; ///< without a ring where there are no stack copies
};

/// Rings for all processors, of `bytes` for samples and half of it for stack copies, or smaller
/// where that is more memory than may be locked. Throws `error` (system).
[[nodiscard]] std::vector<processor_rings> make_rings(const cpu_set& cpus, std::size_t bytes,
                                                      bool with_stacks);

} // namespace nodewise::observe
