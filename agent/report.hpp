// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writing the records of protocol.h.
#pragma once

#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

/// Writes one record of `bytes` bytes, whose header it fills in, by one write(). Like those below
/// it returns false if nothing was written: no memory, no file, a full disk.
[[nodiscard]] bool append(const settings& asked, nodewise_agent_kind kind, int pid,
                          nodewise_agent_header& record, std::size_t bytes) noexcept;

[[nodiscard]] bool write_start(const settings& asked, bool foreign_malloc, int pid) noexcept;
[[nodiscard]] bool write_made(const settings& asked, int pid) noexcept;
/// With `ask` the kernel is asked where its pages are, which takes its time.
[[nodiscard]] bool write_object(const settings& asked, const object& what, int pid,
                                bool ask) noexcept;

/// A name, cut to what fits.
void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept;
/// A place in code by its module and the offset there; nothing if it is in none.
void name_code(const void* address, char (&module)[NODEWISE_AGENT_NAME_BYTES],
               std::uint64_t& offset) noexcept;

} // namespace nodewise::agent
