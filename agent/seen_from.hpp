// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::agent {

/// The function that the code at `caller` would find without the agent, if the function is not in
/// the global scope: a plug-in loaded with RTLD_LOCAL sees its own libraries, and RTLD_NEXT does
/// not. nullptr if there is none. Takes microseconds and the loader's lock.
[[nodiscard]] void* find_seen_from(const void* caller, const char* name) noexcept;

} // namespace nodewise::agent
