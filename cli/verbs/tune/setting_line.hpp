// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/frame/invocation.hpp"
#include "tune/setting.hpp"

namespace nodewise::cli {

/// `nodewise run` with the setting's options and some program. Throws `error` (usage).
[[nodiscard]] invocation run_line_of(const tune::setting& how);

} // namespace nodewise::cli
