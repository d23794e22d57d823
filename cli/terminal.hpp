// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cli/invocation.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// The style of a descriptor, with what --color says about it.
[[nodiscard]] report::style style_of(int descriptor, const invocation& given);

/// Writes all of it to standard output. Throws `error` (system) if that cannot be done: a result
/// that nobody got is no success.
void write_out(std::string_view text);

/// Writes to standard error; that it cannot be written has nowhere to be told.
void write_error(std::string_view text) noexcept;

} // namespace nodewise::cli
