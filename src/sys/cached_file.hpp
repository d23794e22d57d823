// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A file in the page cache.
#pragma once

#include <cstdint>
#include <string>

#include "sys/descriptor.hpp"
#include "sys/kernel.hpp"

namespace nodewise::sys {

/// Open for reading, until it is destroyed.
class cached_file {
 public:
  /// Returns the kernel's errno, or EISDIR for a directory, ENODEV for a file without pages (a
  /// pipe, a terminal), EOPNOTSUPP for a file of huge pages (hugetlbfs). Opens none of these.
  [[nodiscard]] static answer<cached_file> open(const std::string& path);

  cached_file() = default; ///< none

  /// Writes dirty pages and waits for them. Returns 0 or errno.
  [[nodiscard]] int write_out() const;
  /// Asks the kernel to drop its pages. Returns 0 or errno. Even after 0, pages stay that are
  /// dirty, mapped, or in a memory file system.
  [[nodiscard]] int advise_unneeded() const;
  /// The bytes of it in memory, in whole pages, by mincore on a mapping of it. EPERM if the kernel
  /// hides this from the process: since Linux 5.2 it reports every page of a file as resident to a
  /// caller that neither owns the file nor may write it.
  [[nodiscard]] answer<std::uint64_t> resident_bytes() const;

 private:
  explicit cached_file(int number) noexcept : file_(number) {}
  descriptor file_;
};

} // namespace nodewise::sys
