// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cli/frame/invocation.hpp"

namespace nodewise::cli {

/// Does the work of a command line. An exception is printed on standard error and becomes the exit
/// code. `work` may itself fill in `given`.
[[nodiscard]] int guard(const invocation& given, const std::function<int()>& work);

} // namespace nodewise::cli
