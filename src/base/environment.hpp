// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise {

/// How variables are read: std::getenv, or a test's stand-in. nullptr if there is none of the name.
using environment = const char* (*)(const char* name);

} // namespace nodewise
