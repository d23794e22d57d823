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
[[nodiscard]] bool write_object(const settings& asked, const object& what, int pid) noexcept;
/// The totals are filled in already, the header is not.
[[nodiscard]] bool write_end(const settings& asked, nodewise_agent_end& totals, int pid) noexcept;

} // namespace nodewise::agent
