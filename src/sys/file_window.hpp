// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A part of a cached file, mapped to find and move its pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sys/cached_file.hpp"

namespace nodewise::sys {

/// No thread reads through the mapping, so that a file that shrinks meanwhile raises no signal.
class file_window {
 public:
  /// `from` is a multiple of the page size. Returns the kernel's errno.
  [[nodiscard]] static answer<file_window> map(const cached_file& of, std::uint64_t from,
                                               std::size_t bytes);

  file_window() = default; ///< none
  file_window(const file_window&) = delete;
  file_window& operator=(const file_window&) = delete;
  file_window(file_window&& other) noexcept { *this = static_cast<file_window&&>(other); }
  file_window& operator=(file_window&& other) noexcept;
  ~file_window();

  [[nodiscard]] std::size_t pages() const noexcept { return pages_; }
  [[nodiscard]] std::byte* page(std::size_t index) const noexcept {
    return start_ + index * page_bytes_;
  }

  /// Which pages are in memory: bit 0 of one byte each. Without meaning for a file of which the
  /// kernel hides this (`cached_file::hides_pages`). Returns 0 or errno.
  [[nodiscard]] int find_resident(std::span<unsigned char> each) const;

  /// Maps pages, so that the kernel can be asked for their nodes; those that are not in memory are
  /// read. Returns 0 or errno: EFAULT beyond the file's end.
  [[nodiscard]] int touch(std::size_t first, std::size_t count) const;
  /// The same for pages that shall be read in order, each with those behind it.
  [[nodiscard]] int read_in(std::size_t first, std::size_t count) const;
  /// `touch` on kernels before 5.14.
  [[nodiscard]] int touch_each(std::size_t first, std::size_t count) const;

 private:
  std::byte* start_ = nullptr;
  std::size_t pages_ = 0;
  std::size_t page_bytes_ = 0;
};

} // namespace nodewise::sys
