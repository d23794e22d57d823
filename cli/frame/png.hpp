// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/frame/invocation.hpp"

namespace nodewise::cli {

/// The SVG itself; if -o names a FILE.png, what rsvg-convert makes of it. Throws `error` (system)
/// if that program is missing or fails.
[[nodiscard]] std::string svg_or_png(std::string svg, const invocation& given);

} // namespace nodewise::cli
