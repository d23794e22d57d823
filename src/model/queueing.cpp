// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/queueing.hpp"

#include <algorithm>

namespace nodewise::model {

double closed_network_rate(const std::vector<double>& shares, const std::vector<double>& rates,
                           std::size_t threads, double thread_rate) {
  std::vector<double> demands; // seconds of a memory per byte
  double apart = 0;            // seconds per byte that do not hold up other threads
  for (std::size_t m = 0; m < shares.size(); ++m) {
    if (shares[m] <= 0) {
      continue;
    }
    // Seidmann: a memory that serves k threads at once is modelled as one server k times as fast,
    // plus a delay for the rest of the time that a thread would need alone.
    demands.push_back(shares[m] / rates[m]);
    apart += std::max(0.0, shares[m] / thread_rate - shares[m] / rates[m]);
  }
  std::vector<double> queues(demands.size(), 0);
  double rate = 0;
  for (std::size_t n = 1; n <= threads; ++n) {
    double seconds = apart;
    for (std::size_t m = 0; m < demands.size(); ++m) {
      seconds += demands[m] * (1 + queues[m]);
    }
    rate = static_cast<double>(n) / seconds;
    for (std::size_t m = 0; m < demands.size(); ++m) {
      queues[m] = rate * demands[m] * (1 + queues[m]);
    }
  }
  return rate;
}

} // namespace nodewise::model
