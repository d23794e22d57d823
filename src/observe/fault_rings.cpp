// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/fault_rings.hpp"

#include <cerrno>
#include <utility>

#include "observe/refused.hpp"

namespace nodewise::observe {

namespace {

constexpr std::size_t least_bytes = std::size_t{16} << 10;

/// Returns 0 or errno.
int make_ring(cpu_id cpu, std::size_t bytes, std::size_t wake_bytes, anchored_ring& into) {
  auto anchor = sys::perf_event::open({.what = sys::perf_counter::nothing,
                                       .cpu = cpu,
                                       .wake_bytes = static_cast<std::uint32_t>(wake_bytes)});
  if (!anchor) {
    return anchor.errno_value;
  }
  auto ring = sys::perf_ring::map(anchor.value, bytes);
  into = {std::move(anchor.value), std::move(ring.value)};
  return ring.errno_value;
}

int make_rings_of(const cpu_set& cpus, std::size_t bytes, bool with_stacks,
                  std::vector<processor_rings>& into) {
  for (const cpu_id cpu : cpus) {
    processor_rings one;
    one.cpu = cpu;
    // Wake at a quarter: the rest holds what arrives until the reader runs.
    int refused = make_ring(cpu, bytes, bytes / 4, one.samples);
    if (refused == 0 && with_stacks) {
      refused = make_ring(cpu, bytes / 2, bytes / 4, one.stacks);
    }
    if (refused == ENODEV) {
      continue; // it went offline
    }
    if (refused != 0) {
      return refused;
    }
    into.push_back(std::move(one));
  }
  return into.empty() ? ENODEV : 0;
}

} // namespace

std::vector<processor_rings> make_rings(const cpu_set& cpus, std::size_t bytes, bool with_stacks) {
  for (;;) {
    std::vector<processor_rings> all;
    const int refused = make_rings_of(cpus, bytes, with_stacks, all);
    if (refused == 0) {
      return all;
    }
    const std::size_t opened = all.size() * (with_stacks ? 2 : 1);
    all.clear(); // reporting the error may need a file
    if (refused != EPERM && refused != ENOMEM) {
      throw_events_refused(0, opened, refused);
    }
    if (bytes / 2 < least_bytes) {
      throw_rings_refused(cpus.size() * (with_stacks ? 2 : 1), bytes, refused);
    }
    bytes /= 2;
  }
}

} // namespace nodewise::observe
