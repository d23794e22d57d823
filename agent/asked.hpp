// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/settings.hpp"

namespace nodewise::agent {

/// The agent's settings. start() writes them once, before the program's own code runs.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit settings asked{};

} // namespace nodewise::agent
