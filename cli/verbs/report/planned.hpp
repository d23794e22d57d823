// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where a plan puts the pages of arrays.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "drawing/strips.hpp"
#include "plan/plan.hpp"
#include "profile/profile.hpp"

namespace nodewise::cli {

class planned_pages {
 public:
  /// `in`: the program that was profiled.
  planned_pages(const plans::plan_file& what, const topology& on, const profile::program& in);

  /// The strip of an array of this many pages; nullopt if the plan leaves it as it is, or if the
  /// place of its pages is not known beforehand.
  [[nodiscard]] std::optional<drawing::strip> strip_of(std::string_view array, std::uint64_t pages,
                                                       std::size_t page_bytes) const;
  /// Where a thread of the program runs with the plan; `unknown_node` if the plan is for another
  /// number of threads.
  [[nodiscard]] node_id node_of(profile::thread_index of) const;

 private:
  [[nodiscard]] std::vector<drawing::strip_run>
  runs_of(const placements::placement& where, std::uint64_t pages, std::size_t page_bytes) const;

  const plans::plan_file& what_;
  const topology& on_;
  std::vector<profile::thread_index> workers_; ///< the threads that work, in order
  std::vector<node_id> threads_;               ///< the node of each with the plan
};

} // namespace nodewise::cli
