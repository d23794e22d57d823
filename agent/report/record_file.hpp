// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The report file, mapped into the process. After the agent's constructor no record needs a
// descriptor: the agent must not take a number even for a moment, since programs rely on
// `close(0); open(...)`. A write through a mapping also ignores the limit of file sizes (SIGXFSZ),
// and works after chroot(), after a change of the user and under a seccomp filter.
//
// Forked processes share the mapping. Threads and processes reserve room by one atomic operation
// and need no lock, so a signal handler or a killed process blocks no other writer.
#pragma once

#include <cstddef>

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

} // namespace nodewise::agent
