// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A file as the page cache holds it.
#pragma once

#include <cstdint>
#include <string>

#include "sys/kernel.hpp"

namespace nodewise::sys {

/// Open for reading, until it is destroyed.
class cached_file {
 public:
  /// errno as the kernel gives it, and EISDIR for a directory, ENODEV for what has no pages (a
  /// pipe, a terminal), EOPNOTSUPP for a file of huge pages (hugetlbfs). Opens none of these.
  [[nodiscard]] static answer<cached_file> open(const std::string& path);

  cached_file() = default; ///< none
  cached_file(cached_file&& other) noexcept;
  cached_file& operator=(cached_file&& other) noexcept;
  cached_file(const cached_file&) = delete;
  cached_file& operator=(const cached_file&) = delete;
  ~cached_file();

  /// Writes what is dirty, and waits for it. 0 or errno.
  [[nodiscard]] int write_out() const;
  /// Has the kernel give up its pages: 0 or errno, where 0 says nothing of pages that are dirty,
  /// mapped, or of a file system that is memory; they stay.
  [[nodiscard]] int advise_unneeded() const;
  /// What of it is in memory, in whole pages, by mincore on a mapping of it. EPERM where the kernel
  /// tells this process nothing: since Linux 5.2 it calls every page of a file resident to who
  /// neither owns it nor may write it.
  [[nodiscard]] answer<std::uint64_t> resident_bytes() const;

 private:
  explicit cached_file(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

} // namespace nodewise::sys
