// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/frame/registry.hpp"

namespace nodewise::cli {

/// nodewise(1), as roff with the macros of man(7).
[[nodiscard]] std::string command_manual();
/// nodewise-VERB(1).
[[nodiscard]] std::string verb_manual(const verb& of);

/// The completion script for a shell ("bash", "zsh" or "fish"), made from the tables that --help
/// prints. Throws `error` (usage) for any other shell.
[[nodiscard]] std::string completion_script(std::string_view shell);

} // namespace nodewise::cli
