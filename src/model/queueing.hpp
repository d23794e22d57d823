// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The bandwidth of threads that each use one memory at a time and cannot choose which: the
// expectation for dynamic schedules and for threads that have drifted apart. Assumes an infinite
// network.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace nodewise::model {

/// Each thread is at memory m with probability `shares[m]`; a memory with any threads gives
/// `rates[m]`. The mean over all configurations, weighted by how long each lasts: crowded ones last
/// longer. Uses mean value analysis of a closed network of processor-sharing stations (Reiser and
/// Lavenberg 1980). Exact if a thread can saturate a memory; if `thread_rate` is below a memory's,
/// uses Seidmann's approximation for several servers. n * n / (2n - 1) for n equal memories and n
/// threads, in units of one memory. Shares and rates have the same length; shares add up to 1.
[[nodiscard]] double
closed_network_rate(const std::vector<double>& shares, const std::vector<double>& rates,
                    std::size_t threads,
                    double thread_rate = std::numeric_limits<double>::infinity());

} // namespace nodewise::model
