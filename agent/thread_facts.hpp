// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Data for the threads' records that the table of threads does not have.
#pragma once

#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

[[nodiscard]] std::uint32_t main_thread_flags() noexcept;
/// The thread's place as the launcher wrote it; nothing if the thread was not pinned.
void place_text(const nodewise_agent_thread& of, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept;

} // namespace nodewise::agent
