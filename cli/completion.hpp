// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nodewise::cli {

/// The completion script of a shell, from the tables that --help prints: "bash", "zsh" or "fish".
/// Throws `error` (usage) for another.
[[nodiscard]] std::string completion_script(std::string_view shell);

} // namespace nodewise::cli
