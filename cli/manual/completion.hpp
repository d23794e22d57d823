// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nodewise::cli {

/// The completion script for a shell ("bash", "zsh" or "fish"), made from the tables that --help
/// prints. Throws `error` (usage) for any other shell.
[[nodiscard]] std::string completion_script(std::string_view shell);

} // namespace nodewise::cli
