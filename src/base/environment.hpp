// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise {

/// Reads an environment variable: std::getenv, or a test's substitute. nullptr if it is not set.
using environment = const char* (*)(const char* name);

} // namespace nodewise
