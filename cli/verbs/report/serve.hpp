// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nodewise::cli {

/// Becomes the program that shows the page to browsers until Ctrl-C (cli/server). `port`: 0 lets
/// the kernel choose. Throws `error` (system) if that program cannot be started.
[[noreturn]] void serve(std::string_view page, int port);

} // namespace nodewise::cli
