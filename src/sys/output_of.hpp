// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nodewise::sys {

/// What a command prints on standard output, at most a mebibyte; it reads nothing, and its errors
/// are seen by nobody. nullopt if it could not be run or did not end with 0.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<std::string>& command);

} // namespace nodewise::sys
