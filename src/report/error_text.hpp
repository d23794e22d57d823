// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nodewise/error.hpp>

#include "report/style.hpp"

namespace nodewise::report {

/// What was attempted and why it failed, on one line that can be searched for; the hint below:
///
///     nodewise: --membind 9: this machine has no node 9
///         hint: use one of 0-3; `nodewise topo` draws them
///
/// Ends with a newline.
[[nodiscard]] std::string error_text(const error& what, const style& how,
                                     std::string_view program = "nodewise");

/// A line in the same format for something that is not an `error`: "nodewise: warning: ...".
[[nodiscard]] std::string warning_text(std::string_view what, const style& how,
                                       std::string_view program = "nodewise");

} // namespace nodewise::report
