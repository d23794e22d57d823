// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace nodewise::agent {

/// Whether all operators new and delete of the program belong to a library that uses malloc and
/// free. Then the agent's operators do the same. 1: yes, 0: no, -1: not known yet.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit std::atomic<int> malloc_operators{-1};

/// Finds out, and enters it in `malloc_operators`.
[[nodiscard]] bool look_at_operators() noexcept;

} // namespace nodewise::agent
