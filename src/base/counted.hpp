// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nodewise {

/// "1 node", "2 nodes", "0 nodes": for words whose plural ends in s.
[[nodiscard]] inline std::string counted(std::size_t many, std::string_view of_one) {
  return std::to_string(many) + " " + std::string(of_one) + (many == 1 ? "" : "s");
}

} // namespace nodewise
