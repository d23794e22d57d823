// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Page faults as samples, by perf's software events: neither hardware counters nor root are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "observe/sample.hpp"

namespace nodewise::observe {

struct fault_source_options {
  bool inputs = false;              ///< also faults that read a file or swap
  std::uint32_t stack_bytes = 2048; ///< of each copy, a multiple of 8; 0: none
  /// A copy at every so many faults of a thread while there are many of them, at each in quiet
  /// times.
  std::uint32_t stack_period = 31;
  bool page_sizes = false;    ///< the kernel looks into the page tables at each fault
  bool data_mappings = false; ///< tell also mappings that are no code
  /// Where permitted, the events are the processors' own: samples and records are of all processes
  /// (source_abilities::others), but no event has to be changed each time a thread is switched.
  bool whole_machine = false;
  std::size_t ring_bytes = std::size_t{512} << 10; ///< for a processor's samples; a power of two
};

/// Each processor has a ring for samples and what tasks do, and one for the large stack copies, so
/// that these push out no sample. Rings become smaller where the limit of locked memory wants it.
[[nodiscard]] std::unique_ptr<sample_source> make_fault_source(const fault_source_options& options);

} // namespace nodewise::observe
