// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Page faults as samples from perf's software events; needs neither hardware counters nor root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "observe/sample.hpp"

namespace nodewise::observe {

struct fault_source_options {
  std::uint32_t stack_bytes = 2048; ///< of each copy, a multiple of 8; 0: none
  /// A thread gets one copy per this many faults while faults are frequent, one per fault
  /// otherwise.
  std::uint32_t stack_period = 31;
  /// If permitted, events count per processor: samples and records are of all processes
  /// (source_abilities::others), but the kernel need not switch events at each thread switch.
  bool whole_machine = false;
  std::size_t ring_bytes = std::size_t{512} << 10; ///< for a processor's samples; a power of two
};

/// Each processor has one ring for samples and task events, and one for the large stack copies, so
/// that these displace no samples. Rings are smaller if the limit of locked memory requires it.
[[nodiscard]] std::unique_ptr<sample_source> make_fault_source(const fault_source_options& options);

} // namespace nodewise::observe
