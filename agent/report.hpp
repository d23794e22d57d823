// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writing the records of protocol.h.
#pragma once

#include "agent/object_table.hpp"
#include "agent/settings.hpp"

namespace nodewise::agent {

enum class outcome {
  written,
  no_room,   ///< in the report file
  no_memory, ///< to make the record
};

/// To be called once, in the constructor: what comes after it opens no file for a record
/// (agent/record_file.hpp). False if there is no such report.
[[nodiscard]] bool open_report(const char* path) noexcept;

/// Writes one record of `bytes` bytes, whose header it fills in.
[[nodiscard]] outcome append(nodewise_agent_kind kind, int pid, nodewise_agent_header& record,
                             std::size_t bytes) noexcept;

[[nodiscard]] outcome write_start(bool foreign_malloc, int pid) noexcept;
[[nodiscard]] outcome write_made(int pid) noexcept;
/// With `ask` the kernel is asked where its pages are, which takes its time.
[[nodiscard]] outcome write_object(const settings& asked, const object& what, int pid,
                                   bool ask) noexcept;

/// A name, cut to what fits.
void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept;
/// A place in code by its module and the offset there; nothing if it is in none.
void name_code(const void* address, char (&module)[NODEWISE_AGENT_NAME_BYTES],
               std::uint64_t& offset) noexcept;

} // namespace nodewise::agent
