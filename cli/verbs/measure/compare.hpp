// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Shows as text what changed between two measurements.
#pragma once

#include <string>

#include "measure/measurement.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Compares figure by figure. Only figures measured in the same way, often enough and undisturbed
/// are called better or worse.
[[nodiscard]] std::string comparison_text(const measure::measurement& before,
                                          const measure::measurement& after,
                                          const report::style& how);

} // namespace nodewise::cli
