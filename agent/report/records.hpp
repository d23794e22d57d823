// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the records of protocol.h into the report of this process.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/protocol.h"
#include "agent/report/record_file.hpp"

namespace nodewise::agent {

struct report_state {
  /// The process that the records are about: 0 before the first one. A child of fork begins anew.
  /// On a cache line of its own, since every new object reads it.
  alignas(64) std::atomic<int> pid{0};
  std::atomic<bool> finished{false}; ///< the report is complete
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> no_memory{0}; ///< to make a record
  /// Mapped once, in the constructor: later records open no file.
  record_file file;
};

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit report_state reporting;

/// Whether trace mode is on and records can still be written.
[[nodiscard]] bool is_tracing() noexcept;

/// Fills in the header of a record of `bytes` bytes and writes the record, or counts it as lost if
/// there is no room.
void tell(nodewise_agent_kind kind, nodewise_agent_header& record, std::size_t bytes) noexcept;

/// Copies a name, cut to what fits.
void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept;
/// Writes a code address as module and offset; an empty name if it is in no module.
void name_code(const void* address, char (&module)[NODEWISE_AGENT_NAME_BYTES],
               std::uint64_t& offset) noexcept;

} // namespace nodewise::agent
