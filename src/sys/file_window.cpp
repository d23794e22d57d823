// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/file_window.hpp"

#include <cerrno>
#include <utility>

#include <sys/mman.h>

#include "sys/raw.hpp"

namespace nodewise::sys {

answer<file_window> file_window::map(const cached_file& of, std::uint64_t from, std::size_t bytes) {
  void* const start =
      ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, of.number(), static_cast<off_t>(from));
  if (start == MAP_FAILED) {
    return {{}, errno};
  }
  // No readahead: a page that is evicted meanwhile should not bring others in.
  (void)::madvise(start, bytes, MADV_RANDOM);
  file_window made;
  made.start_ = static_cast<std::byte*>(start);
  made.page_bytes_ = real_kernel().base_page_bytes();
  made.pages_ = (bytes + made.page_bytes_ - 1) / made.page_bytes_;
  return {std::move(made), 0};
}

file_window& file_window::operator=(file_window&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(pages_, other.pages_);
  std::swap(page_bytes_, other.page_bytes_);
  return *this;
}

file_window::~file_window() {
  if (start_ != nullptr) {
    ::munmap(start_, pages_ * page_bytes_);
  }
}

int file_window::find_resident(std::span<unsigned char> each) const {
  return ::mincore(start_, pages_ * page_bytes_, each.data()) == 0 ? 0 : errno;
}

int file_window::touch(std::size_t first, std::size_t count) const {
  return static_cast<int>(-raw::touch_pages(page(first), count, page_bytes_));
}

int file_window::read_in(std::size_t first, std::size_t count) const {
  // Of the whole window: advice for a part of it would make several mappings of it.
  (void)::madvise(start_, pages_ * page_bytes_, MADV_SEQUENTIAL);
  return touch(first, count);
}

int file_window::touch_each(std::size_t first, std::size_t count) const {
  return static_cast<int>(-raw::touch_each_page(page(first), count, page_bytes_));
}

} // namespace nodewise::sys
