// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What threads get that each work on one memory at a time and cannot choose which: the expectation
// for dynamic schedules and for threads that have drifted apart. An infinite network is assumed.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace nodewise::model {

/// Threads are at memory m with probability `shares[m]` each; a memory that has any gives
/// `rates[m]`. The mean over all configurations, as if each lasted equally long: Hager and Wellein,
/// problem 8.1. n(1 - (1 - 1/n)^n) for n equal memories and n threads, in units of one memory.
/// Shares and rates of one length; shares add up to 1.
[[nodiscard]] double configuration_mean_rate(const std::vector<double>& shares,
                                             const std::vector<double>& rates, std::size_t threads);

/// The same weighted by how long a configuration lasts: crowded ones last longer. A closed network
/// of processor-sharing stations by mean value analysis (Reiser and Lavenberg 1980), exact where a
/// thread can saturate a memory; else, with `thread_rate` below a memory's, with Seidmann's
/// approximation for several servers. n * n / (2n - 1) for n equal memories and n threads.
[[nodiscard]] double
closed_network_rate(const std::vector<double>& shares, const std::vector<double>& rates,
                    std::size_t threads,
                    double thread_rate = std::numeric_limits<double>::infinity());

} // namespace nodewise::model
