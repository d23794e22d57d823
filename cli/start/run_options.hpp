// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/frame/invocation.hpp"
#include "launch/run_options.hpp"

namespace nodewise::cli {

/// Reads the options of `nodewise run`. Throws `error` (usage).
[[nodiscard]] launch::run_options read_run_options(const invocation& given);

/// Reads the options for memory placement (memory_options.cpp).
void read_memory_options(launch::run_options& options, const invocation& given);

} // namespace nodewise::cli
