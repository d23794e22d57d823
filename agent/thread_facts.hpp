// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the threads' records need besides the table of threads.
#pragma once

#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

[[nodiscard]] std::uint32_t main_thread_flags() noexcept;
/// Where the thread with this number was sent, as the launcher wrote it. Only for a pinned one.
void place_text(int ordinal, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept;

} // namespace nodewise::agent
