// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where a rank's memory is, beside its threads.
#pragma once

#include <optional>

#include "survey/job.hpp"

namespace nodewise::survey {

/// The nodes of the processors on which its workers ran, or may run if they were not seen.
[[nodiscard]] node_set thread_nodes(const rank_record& rank, const host_machine& on);

struct memory_use {
  std::uint64_t known = 0; ///< bytes on nodes with processors
  std::uint64_t away = 0;  ///< of these, on nodes without a thread of the rank
  node_id fullest = unknown_node;
  std::uint64_t on_fullest = 0;

  [[nodiscard]] double away_share() const noexcept {
    return known == 0 ? 0 : static_cast<double>(away) / static_cast<double>(known);
  }
  /// More than a quarter of it.
  [[nodiscard]] bool is_away() const noexcept { return away_share() > 0.25; }
  [[nodiscard]] double fullest_share() const noexcept {
    return known == 0 ? 0 : static_cast<double>(on_fullest) / static_cast<double>(known);
  }
};
/// The share of the rank's workers that are on a node, 0..1; one that was seen on several nodes, or
/// may run there, counts in equal parts.
[[nodiscard]] double thread_share(const rank_record& rank, const host_machine& on, node_id node);

/// Memory on nodes without processors (HBM, CXL) is near to no thread, and is not counted.
[[nodiscard]] memory_use memory_of(const rank_record& rank, const host_machine& on);

} // namespace nodewise::survey
