// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nodewise::sys {

/// What a command prints on standard output, at most 1 MiB. Its input is empty and its stderr is
/// discarded. nullopt if it could not be run or did not end with 0.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<std::string>& command);

} // namespace nodewise::sys
