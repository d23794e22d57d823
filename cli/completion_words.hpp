// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/registry.hpp"

namespace nodewise::cli {

/// What a shell proposes as the value of an option, besides files: its choices, the virtual machines
/// of `--on`, the placements of `--memory`. A word that ends in ':' is followed by more. Empty where
/// nothing is known of the value.
[[nodiscard]] std::vector<std::string> proposed_words(const flag& of);

/// Whether the value is several such words with commas between.
[[nodiscard]] bool takes_a_list(const flag& of);

} // namespace nodewise::cli
