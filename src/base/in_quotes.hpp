// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace nodewise {

/// User input as error messages quote it, shortened to 60 characters.
[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  return fmt::format("'{}{}'", text.substr(0, longest), text.size() > longest ? "..." : "");
}

} // namespace nodewise
