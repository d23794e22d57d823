// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers and lists in the form that sentences use.
#pragma once

#include <string>
#include <vector>

namespace nodewise::advise {

/// "75 %", "0.3 %".
[[nodiscard]] std::string percent(double share);
/// "1.93", "12.4", "104".
[[nodiscard]] std::string number(double value);
/// "512 MiB", "1.5 GiB", "100 B".
[[nodiscard]] std::string bytes_text(double bytes);
/// "a, b and c"; for more than four "a, b, c and 5 more".
[[nodiscard]] std::string list_of(const std::vector<std::string>& names);

} // namespace nodewise::advise
