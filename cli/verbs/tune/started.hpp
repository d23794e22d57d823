// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is shown of the error of a program that tune starts.
#pragma once

#include <string>
#include <string_view>

namespace nodewise::cli {

/// Without a hint of `nodewise`, which comes after its error.
[[nodiscard]] std::string last_line_of(std::string_view text);

} // namespace nodewise::cli
