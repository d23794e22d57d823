// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Predicted figures and what limits them, in words.
#pragma once

#include <string>

#include "model/costs.hpp"
#include "model/predict.hpp"

namespace nodewise::cli {

/// A number above 0 rounded to three significant digits, but not beyond two decimals and not
/// coarser than 1.
[[nodiscard]] std::string short_number(double value);
/// "53.2 ms", "1.20 s"; for times above 0.
[[nodiscard]] std::string format_seconds(double seconds);
/// "18.2 GB/s" of bytes/s, three digits.
[[nodiscard]] std::string format_bandwidth(double bytes_per_s);
/// "memory of node 0", "link 1:0", "path 1:0", "cores of node 0".
[[nodiscard]] std::string load_name(const model::resource_load& load,
                                    const model::machine_costs& on);

} // namespace nodewise::cli
