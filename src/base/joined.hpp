// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace nodewise {

/// "a, b, c": the values with a separator between them. `text` makes the text of a value: a
/// function or a member.
template <class Values, class Text = std::identity>
[[nodiscard]] std::string joined(const Values& values, std::string_view separator, Text text = {}) {
  std::string all;
  bool first = true;
  for (const auto& each : values) {
    all += fmt::format("{}{}", first ? "" : separator, std::invoke(text, each));
    first = false;
  }
  return all;
}

} // namespace nodewise
