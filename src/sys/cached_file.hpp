// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A file in the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  /// Its length in bytes.
  [[nodiscard]] answer<std::uint64_t> size() const;
  /// Reads up to `into.size()` bytes from `from` on; 0 at the end. Returns how many.
  [[nodiscard]] answer<std::size_t> read(std::uint64_t from, std::span<std::byte> into) const;
  /// Asks the kernel to begin to read `bytes` from `from` on, in pages of the base size, which the
  /// calling thread's memory policy places. Some file systems ignore this.
  void begin_to_read(std::uint64_t from, std::uint64_t bytes) const noexcept;
  /// Whether its file system is in memory (tmpfs): a page that is not there is a hole or swapped.
  [[nodiscard]] bool is_in_memory() const noexcept;
  /// Whether the kernel hides from this process which pages are in memory: since Linux 5.2 it
  /// reports every page of a file as resident to a caller that neither owns the file nor may write
  /// it.
  [[nodiscard]] answer<bool> hides_pages() const;
  /// The bytes of it in memory, in whole pages, by mincore on a mapping of it. EPERM if the kernel
  /// hides this.
  [[nodiscard]] answer<std::uint64_t> resident_bytes() const;

  [[nodiscard]] int number() const noexcept { return file_.number(); }

 private:
  explicit cached_file(int number) noexcept : file_(number) {}
  descriptor file_;
};

} // namespace nodewise::sys
