// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::agent {

/// The function that the code at `caller` would have found without the agent, if it is not for all
/// modules to see: a plug-in that was loaded with RTLD_LOCAL sees the libraries that it came with,
/// and RTLD_NEXT does not. nullptr if there is none. Takes microseconds and the loader's lock.
[[nodiscard]] void* find_seen_from(const void* caller, const char* name) noexcept;

} // namespace nodewise::agent
