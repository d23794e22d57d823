// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a fix is predicted to bring, in the same words everywhere.
#pragma once

#include <string>

#include "advise/finding.hpp"

namespace nodewise::cli {

/// "up to 1.95x faster (predicted)", "unavailable: no traffic to a known memory was observed".
[[nodiscard]] std::string gain_words(const advise::gain& of);

/// "1.95x faster (predicted; 1.71x to 1.99x with uncertain inputs)"; as above if there is no range
/// that two decimals show.
[[nodiscard]] std::string gain_with_range(const advise::gain& of);

} // namespace nodewise::cli
