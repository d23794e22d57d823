// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the threads' records need besides the table of threads.
#pragma once

#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

[[nodiscard]] std::uint32_t main_thread_flags() noexcept;
/// Where the thread was sent, as the launcher wrote it; nothing for one that was not pinned.
void place_text(const nodewise_agent_thread& of, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept;

} // namespace nodewise::agent
