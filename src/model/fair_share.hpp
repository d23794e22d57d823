// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Max-min fair rates by progressive filling: all rates rise together; flows that use a full
// resource stop, the others go on. Bertsekas and Gallager, 'Data Networks', section 6.5.2.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace nodewise::model {

/// The amount of a resource's capacity that one unit of rate takes.
struct resource_use {
  std::size_t resource = 0;
  double amount = 0; ///< above 0
};

/// Equal flows, `members` of them, that always have the same rate.
struct flow {
  std::vector<resource_use> uses; ///< each resource at most once
  double members = 1;
  double most = std::numeric_limits<double>::infinity(); ///< its own limit
  bool active = true;                                    ///< else its rate is 0
};

inline constexpr std::size_t own_limit = static_cast<std::size_t>(-1);

class fair_share {
 public:
  explicit fair_share(std::vector<double> capacities) : capacities_(std::move(capacities)) {}

  /// Computes the rate of a member of each flow; infinity for a flow that nothing limits.
  void solve(const std::vector<flow>& flows);

  [[nodiscard]] const std::vector<double>& capacities() const noexcept { return capacities_; }
  [[nodiscard]] const std::vector<double>& rates() const noexcept { return rates_; }
  /// The resource that stopped each flow, or `own_limit`.
  [[nodiscard]] const std::vector<std::size_t>& limiters() const noexcept { return limiters_; }

 private:
  void start(const std::vector<flow>& flows);
  [[nodiscard]] double load_of(const std::vector<flow>& flows, std::size_t resource) const;
  void stop(const std::vector<flow>& flows, std::size_t which, std::size_t limiter);
  void stop_at_own_limit(const std::vector<flow>& flows);
  void stop_at_full(const std::vector<flow>& flows, std::size_t tightest);

  std::vector<double> capacities_;
  std::vector<double> rates_;
  std::vector<std::size_t> limiters_;
  // While solving:
  double level_ = 0;                 ///< the rate of all flows that still rise
  std::vector<double> room_;         ///< capacity left of each resource
  std::vector<double> summed_;       ///< `load_` when it was last added up
  std::vector<double> load_;         ///< capacity that a unit of level takes
  std::vector<std::size_t> users_;   ///< rising flows that use it
  std::vector<char> full_;           ///< by resource
  std::vector<std::size_t> touched_; ///< resources with users
  std::vector<std::size_t> rising_;  ///< flows, sorted by their own limit
  std::size_t rising_from_ = 0;
  std::vector<char> stopped_;
};

} // namespace nodewise::model
