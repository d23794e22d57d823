// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether a program that this one starts can have the agent. All of it may be called between
// vfork() and exec: it takes no lock and little stack, and writes nothing that is shared.
#pragma once

namespace nodewise::agent {

/// By the first thread, before the others.
void note_own_loader() noexcept;

/// Whether the dynamic linker that execveat() of this file starts takes the agent without a
/// complaint; of a script, that of its interpreter. Also true where it takes no library, and where
/// the file cannot be read.
[[nodiscard]] bool can_have_agent(int folder, const char* path) noexcept;
/// The same of an open file.
[[nodiscard]] bool can_have_agent(int file) noexcept;

} // namespace nodewise::agent
