// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/traffic.hpp"

#include <numeric>

namespace nodewise::model {

double total_bytes(const thread_traffic& of) noexcept {
  return std::accumulate(of.written.begin(), of.written.end(),
                         std::accumulate(of.read.begin(), of.read.end(), 0.0));
}

double total_bytes(const traffic& of) noexcept {
  double sum = 0;
  for (const thread_traffic& thread : of.threads) {
    sum += total_bytes(thread);
  }
  return sum;
}

} // namespace nodewise::model
