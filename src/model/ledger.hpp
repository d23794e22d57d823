// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Records what each shared part of the machine does over time.
#pragma once

#include <cstddef>
#include <vector>

#include "model/costs.hpp"
#include "model/fair_share.hpp"
#include "model/prediction.hpp"

namespace nodewise::model {

class ledger {
 public:
  /// Resources are those of `of`: memories, links, then cores of the nodes in `core_nodes`.
  ledger(const machine_costs& on, const fair_share& of, std::vector<std::size_t> core_nodes);

  /// Advances time: all active flows go on at the rates last solved.
  void pass(const std::vector<flow>& flows, double seconds);
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

  /// The loads of all resources that were used; those waited for most come first.
  [[nodiscard]] std::vector<resource_load> loads() const;

 private:
  [[nodiscard]] resource_load named(std::size_t resource) const;

  const machine_costs& on_;
  const fair_share& share_;
  std::vector<std::size_t> core_nodes_;
  std::vector<double> moved_; ///< by resource
  std::vector<double> bound_; ///< thread seconds, by resource
  double own_bound_ = 0;
  double thread_seconds_ = 0;
  double seconds_ = 0;
};

} // namespace nodewise::model
