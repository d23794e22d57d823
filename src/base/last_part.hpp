// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nodewise {

/// A path without its folders.
[[nodiscard]] constexpr std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

} // namespace nodewise
