// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/forecast.hpp"

#include <algorithm>
#include <tuple>

namespace nodewise::tune {

forecast_result weigh_forecasts(std::span<const std::optional<forecast>> candidates) {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (candidates[c] && (!best || candidates[c]->high < candidates[*best]->high)) {
      best = c;
    }
  }
  forecast_result made;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (c > 0 && candidates[c] && candidates[c]->low > candidates[*best]->high) {
      made.dropped.push_back({c, candidates[c]->low, *best, candidates[*best]->high});
    } else {
      made.order.push_back(c);
    }
  }
  std::ranges::sort(made.order, {}, [&](std::size_t c) {
    return std::tuple(c != 0, candidates[c].value_or(forecast{}).likely, c);
  });
  return made;
}

} // namespace nodewise::tune
