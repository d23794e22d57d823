// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether a program that this one starts can load the agent. These functions may be called between
// vfork() and exec: they take no lock and little stack, and write nothing that is shared.
#pragma once

namespace nodewise::agent {

/// Called by the first thread, before there are others.
void note_own_loader() noexcept;

/// Whether the dynamic linker that execveat() of this file starts loads the agent without an error.
/// For a script it is the linker of its interpreter. Also true if the program takes no preloaded
/// library, and if the file cannot be read.
[[nodiscard]] bool can_have_agent(int folder, const char* path) noexcept;
/// The same for an open file.
[[nodiscard]] bool can_have_agent(int file) noexcept;

} // namespace nodewise::agent
