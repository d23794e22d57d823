// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Warnings about a measurement that are known before it begins.
#pragma once

#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "measure/points.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

/// The memory that this process may allocate now: on each node, and in its control group.
[[nodiscard]] measure::memory_to_have memory_here(const topology& on, sys::kernel& kernel);

/// The reasons why the figures will not show memory performance, although all can be measured.
[[nodiscard]] std::vector<std::string> doubts(const topology& on, const measure::scope& what,
                                              const std::vector<measure::point>& points,
                                              sys::kernel& kernel);

/// What was asked for but is missing from the points.
[[nodiscard]] std::vector<std::string> left_out(const std::vector<measure::point>& points);

} // namespace nodewise::cli
