// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cli/invocation.hpp"

namespace nodewise::cli {

/// Does the work of a command line; what it throws is printed on standard error and becomes the
/// exit code. `given` may be filled by the work itself.
[[nodiscard]] int guard(const invocation& given, const std::function<int()>& work);

} // namespace nodewise::cli
