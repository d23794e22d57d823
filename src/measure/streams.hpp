// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arrays of a point's groups, and the part of them that each thread works on.
#pragma once

#include <vector>

#include "measure/memory.hpp"

namespace nodewise::measure {

/// What one thread does.
struct stream_part {
  const kernel* does = nullptr;
  operands with;
  cpu_id cpu{};
};

/// Fresh arrays of all groups, not yet touched.
class stream_arrays {
 public:
  /// Staggers base addresses as `array` does: equal ones would share the same cache sets. Throws
  /// `error`: (usage) if a thread would have no element, else as `take_memory`.
  stream_arrays(const bench& with, const std::vector<stream_group>& groups, page_size pages);

  [[nodiscard]] const std::vector<stream_part>& parts() const noexcept { return parts_; }
  [[nodiscard]] std::vector<cpu_id> cpus() const;
  [[nodiscard]] const std::vector<region>& memory() const noexcept { return memory_; }
  /// Bytes that STREAM counts for one sweep of all threads.
  [[nodiscard]] double counted_bytes() const noexcept;

 private:
  void add(const bench& with, const stream_group& group, page_size pages);

  std::vector<region> memory_;
  std::vector<stream_part> parts_;
};

/// Bound threads sweep until a sample is long enough; a sample is the GB/s of all threads together,
/// from the start of the first to the end of the last.
void run_work(const point& what, const stream_work& does, const bench& with, outcome& into);

} // namespace nodewise::measure
