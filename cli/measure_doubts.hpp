// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is to be said of a measurement before it begins.
#pragma once

#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "measure/points.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

/// What this process may take now: of each node, and of its control group.
[[nodiscard]] measure::memory_to_have memory_here(const topology& on, sys::kernel& kernel);

/// Why figures will not be those of the memory, though all can be measured.
[[nodiscard]] std::vector<std::string> doubts(const topology& on, const measure::scope& what,
                                              const std::vector<measure::point>& points,
                                              sys::kernel& kernel);

/// What was asked for, and is not among the points.
[[nodiscard]] std::vector<std::string> left_out(const std::vector<measure::point>& points);

} // namespace nodewise::cli
