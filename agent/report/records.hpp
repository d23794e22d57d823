// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the records of protocol.h into the report of this process.
//
// The report file, mapped into the process. After the agent's constructor no record needs a
// descriptor: the agent must not take a number even for a moment, since programs rely on
// `close(0); open(...)`. A write through a mapping also ignores the limit of file sizes (SIGXFSZ),
// and works after chroot(), after a change of the user and under a seccomp filter.
//
// Forked processes share the mapping. Threads and processes reserve room by one atomic operation
// and need no lock, so a signal handler or a killed process blocks no other writer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

class record_file {
 public:
  /// Maps the file. False if it is not a regular file with room, or if there is no address space
  /// for any of it. The file's blocks must be allocated: on a full disk the first write to a page
  /// without a block would end the program by SIGBUS.
  [[nodiscard]] bool map(const char* path) noexcept;

  /// Fills in the header of a record of `bytes` bytes and writes the record. If there is no room,
  /// counts that in the file and returns false.
  [[nodiscard]] bool append(nodewise_agent_kind kind, int pid, nodewise_agent_header& record,
                            std::size_t bytes) noexcept;

 private:
  [[nodiscard]] char* reserve(std::size_t bytes, std::size_t end) noexcept;

  char* start_ = nullptr;
  std::size_t bytes_ = 0;
};

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
