// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of the Nodewise library in the program. The library places it, and the agent reports it in
// observe mode. It ends with munmap(), like the program's own mappings.
#include <cerrno>

#include "agent/alloc/objects.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/asked.hpp"
#include "agent/interposed.hpp"
#include "agent/report/objects_report.hpp"

using namespace nodewise::agent;

/// Called by the library with fresh memory, before it is placed.
NODEWISE_INTERPOSED void nodewise_agent_region(void* start, std::size_t bytes) noexcept {
  if (gate_bytes == SIZE_MAX || !asked.observe || bytes < asked.threshold_bytes) {
    return;
  }
  const int kept = errno;
  object made = unplaced(NODEWISE_AGENT_REGION, bytes, NODEWISE_CALLER);
  made.start = static_cast<char*>(start);
  made.flags = NODEWISE_AGENT_UNASKED;
  count_made(made);
  (void)objects.insert(made);
  errno = kept;
}
