// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What predicted times do for a race: the order in which candidates run, and which of them need not
// run at all. Predictions are no proof, so they decide nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace nodewise::tune {

/// A candidate's predicted time, divided by that of candidate 0, which is {1, 1, 1}.
struct forecast {
  double low = 1; ///< what it takes at least
  double likely = 1;
  double high = 1; ///< what it takes at most

  friend bool operator==(const forecast&, const forecast&) = default;
};

/// A candidate that another one is predicted to beat in any case: "dropped: predicted to take at
/// least 2.10 times as long as it is, --bind close at most 0.90 times".
struct dropped_candidate {
  std::size_t candidate = 0;
  double least = 1;       ///< its `low`
  std::size_t better = 0; ///< the candidate with the smallest `high`
  double most = 1;        ///< that `high`
};

struct forecast_result {
  std::vector<std::size_t> order;         ///< of the candidates to run: 0, then by `likely`
  std::vector<dropped_candidate> dropped; ///< ascending by candidate
};

/// A candidate is dropped if its `low` is above the smallest `high` of all; candidate 0 never is. A
/// candidate without a forecast is never dropped, and has its place in the order as if it took as
/// long as candidate 0. Equal ones keep their order.
[[nodiscard]] forecast_result weigh_forecasts(std::span<const std::optional<forecast>> candidates);

} // namespace nodewise::tune
