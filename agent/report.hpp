// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the records of protocol.h.
#pragma once

#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

enum class outcome {
  written,
  no_room,   ///< in the report file
  no_memory, ///< to make the record
};

/// Call it once, in the constructor: later records open no file (agent/record_file.hpp). False if
/// there is no such report.
[[nodiscard]] bool open_report(const char* path) noexcept;

/// Fills in the header of a record of `bytes` bytes and writes the record.
[[nodiscard]] outcome append(nodewise_agent_kind kind, int pid, nodewise_agent_header& record,
                             std::size_t bytes) noexcept;

[[nodiscard]] outcome write_start(bool foreign_malloc, int pid) noexcept;
[[nodiscard]] outcome write_made(int pid) noexcept;
/// With `ask` it asks the kernel where the object's pages are, which is slow.
[[nodiscard]] outcome write_object(const settings& asked, const object& what, int pid,
                                   bool ask) noexcept;

/// Copies a name, cut to what fits.
void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept;
/// Writes a code address as module and offset; an empty name if it is in no module.
void name_code(const void* address, char (&module)[NODEWISE_AGENT_NAME_BYTES],
               std::uint64_t& offset) noexcept;

} // namespace nodewise::agent
