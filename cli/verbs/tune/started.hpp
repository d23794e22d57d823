// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a program that tune starts gets, and what is shown of its error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nodewise::cli {

/// Of this process: "NAME=VALUE".
[[nodiscard]] std::vector<std::string> own_environment();
/// Without a hint of `nodewise`, which comes after its error.
[[nodiscard]] std::string last_line_of(std::string_view text);

} // namespace nodewise::cli
