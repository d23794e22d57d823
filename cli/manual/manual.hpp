// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/frame/registry.hpp"

namespace nodewise::cli {

/// nodewise(1), as roff with the macros of man(7).
[[nodiscard]] std::string command_manual();
/// nodewise-VERB(1).
[[nodiscard]] std::string verb_manual(const verb& of);

} // namespace nodewise::cli
