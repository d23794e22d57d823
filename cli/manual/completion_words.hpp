// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/frame/registry.hpp"

namespace nodewise::cli {

/// What a shell proposes as the value of an option, besides files: its choices, the virtual
/// machines of `--on`, the placements of `--memory`. A word that ends in ':' needs more after it.
/// Empty if there is nothing to propose.
[[nodiscard]] std::vector<std::string> proposed_words(const flag& of);

/// Whether the value is a comma-separated list of such words.
[[nodiscard]] bool takes_a_list(const flag& of);

} // namespace nodewise::cli
