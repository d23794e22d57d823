// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What changed between two measurements, for people.
#pragma once

#include <string>

#include "measure/measurement.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Figure by figure. Only what was measured in the same way, often enough and undisturbed is called
/// better or worse.
[[nodiscard]] std::string comparison_text(const measure::measurement& before,
                                          const measure::measurement& after,
                                          const report::style& how);

} // namespace nodewise::cli
