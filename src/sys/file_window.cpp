// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/file_window.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace nodewise::sys {

namespace {

constexpr int populate_for_reading = 22; ///< MADV_POPULATE_READ, Linux 5.14

} // namespace

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
  const int failed =
      ::madvise(page(first), count * page_bytes_, populate_for_reading) == 0 ? 0 : errno;
  return failed == EINVAL ? touch_each(first, count) : failed;
}

int file_window::touch_each(std::size_t first, std::size_t count) const {
  // The kernel reads a byte of each page for this process; where it cannot, there is no signal.
  std::array<iovec, 512> from{};
  std::array<std::byte, 512> bytes{};
  for (std::size_t done = 0; done < count;) {
    const std::size_t now = std::min(count - done, from.size());
    for (std::size_t i = 0; i < now; ++i) {
      from[i] = {page(first + done + i), 1};
    }
    const iovec into{bytes.data(), now};
    const ssize_t read = ::process_vm_readv(::getpid(), &into, 1, from.data(), now, 0);
    if (read < 0) {
      return errno;
    }
    if (static_cast<std::size_t>(read) != now) {
      return EFAULT;
    }
    done += now;
  }
  return 0;
}

} // namespace nodewise::sys
