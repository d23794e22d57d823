// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The report file in the memory of the process. After the constructor of the agent no record needs
// a descriptor: a number that the agent took for a moment is one that the program does not get, and
// programs rely on `close(0); open(...)`. A write through a mapping also has no limit of file sizes
// (SIGXFSZ), and works after chroot(), after a change of the user and under a seccomp filter.
//
// Forked processes share the mapping. Threads and processes reserve room by one atomic operation
// and need no lock, so a signal handler and a process that is killed disturb nobody.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/protocol.h"

namespace nodewise::agent {

class record_file {
 public:
  /// Maps the file. False if it is not a regular file with room, or if there is no address space
  /// for any of it. The file must have its blocks: where the disk is full, the first write to a
  /// page without one would end the program by SIGBUS.
  [[nodiscard]] bool map(const char* path) noexcept;
  [[nodiscard]] bool is_mapped() const noexcept { return start_ != nullptr; }

  /// Writes a record of `bytes` bytes, whose header it fills in. Returns false if there is no room,
  /// and counts that in the file.
  [[nodiscard]] bool append(nodewise_agent_kind kind, int pid, nodewise_agent_header& record,
                            std::size_t bytes) noexcept;

 private:
  [[nodiscard]] char* reserve(std::size_t bytes, std::size_t end) noexcept;

  char* start_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace nodewise::agent
