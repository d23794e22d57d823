// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/traffic.hpp"

#include <numeric>

namespace nodewise::model {

thread_traffic idle_thread(std::size_t core, std::size_t nodes) {
  return {.core = core, .read = std::vector<double>(nodes), .written = std::vector<double>(nodes)};
}

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
