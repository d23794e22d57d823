// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/cached_file.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace nodewise::sys {

namespace {

/// Bytes of a file per call: mincore returns a byte for each page.
constexpr std::uint64_t window_bytes = std::uint64_t{1} << 30;
/// A folio of the page cache is aligned and has at most this many pages (MAX_XAS_ORDER of the
/// kernel's pagemap.h), so that beyond this alignment no folio has a page of the file.
constexpr std::uint64_t most_pages_of_a_folio = 2048;

int why_not_cached(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) {
    return errno;
  }
  if (S_ISDIR(facts.st_mode)) {
    return EISDIR;
  }
  if (!S_ISREG(facts.st_mode) && !S_ISBLK(facts.st_mode)) {
    return ENODEV;
  }
  struct statfs of{};
  if (::statfs(path.c_str(), &of) != 0) {
    return errno;
  }
  return of.f_type == HUGETLBFS_MAGIC ? EOPNOTSUPP : 0;
}

/// Counts the pages of a part of the file that are in memory. Maps the file without touching it.
answer<std::uint64_t> resident_pages(int file, std::uint64_t from, std::uint64_t bytes) {
  const std::size_t page = real_kernel().base_page_bytes();
  void* const start = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(from));
  if (start == MAP_FAILED) {
    return {0, errno};
  }
  std::vector<unsigned char> resident((bytes + page - 1) / page);
  const int failed = ::mincore(start, bytes, resident.data()) == 0 ? 0 : errno;
  ::munmap(start, bytes);
  const auto pages =
      std::ranges::count_if(resident, [](unsigned char each) { return (each & 1U) != 0; });
  return {static_cast<std::uint64_t>(pages), failed};
}

} // namespace

answer<cached_file> cached_file::open(const std::string& path) {
  // Check first: opening a pipe or a tape has side effects.
  if (const int refused = why_not_cached(path); refused != 0) {
    return {{}, refused};
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return {cached_file(file), file < 0 ? errno : 0};
}

int cached_file::write_out() const {
  return ::fdatasync(file_.number()) == 0 ? 0 : errno;
}

int cached_file::advise_unneeded() const {
  return ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_DONTNEED);
}

answer<std::uint64_t> cached_file::size() const {
  const off_t end = ::lseek(file_.number(), 0, SEEK_END);
  return {end < 0 ? 0 : static_cast<std::uint64_t>(end), end < 0 ? errno : 0};
}

answer<std::size_t> cached_file::read(std::uint64_t from, std::span<std::byte> into) const {
  ssize_t got = 0;
  do {
    got = ::pread(file_.number(), into.data(), into.size(), static_cast<off_t>(from));
  } while (got < 0 && errno == EINTR);
  return {got < 0 ? 0 : static_cast<std::size_t>(got), got < 0 ? errno : 0};
}

void cached_file::begin_to_read(std::uint64_t from, std::uint64_t bytes) const noexcept {
  constexpr std::uint64_t at_once = std::uint64_t{128} << 10; // what every disk may read at once
  for (std::uint64_t done = 0; done < bytes; done += at_once) {
    (void)::readahead(file_.number(), static_cast<off64_t>(from + done),
                      std::min(at_once, bytes - done));
  }
}

bool cached_file::is_in_memory() const noexcept {
  struct statfs of{};
  return ::fstatfs(file_.number(), &of) == 0 && of.f_type == TMPFS_MAGIC;
}

answer<bool> cached_file::hides_pages() const {
  const auto its = size();
  if (!its || its.value == 0) {
    return {false, its.errno_value};
  }
  const std::uint64_t page = real_kernel().base_page_bytes();
  const std::uint64_t folio = most_pages_of_a_folio * page;
  // A page past the file's end is resident only if the kernel hides the facts.
  const auto behind = resident_pages(file_.number(), (its.value + folio - 1) / folio * folio, page);
  return {behind && behind.value != 0, behind.errno_value};
}

answer<std::uint64_t> cached_file::resident_bytes() const {
  const auto its = size();
  const auto hidden = its ? hides_pages() : answer<bool>{false, its.errno_value};
  if (!hidden || hidden.value) {
    return {0, hidden ? EPERM : hidden.errno_value};
  }
  const std::uint64_t page = real_kernel().base_page_bytes();
  std::uint64_t bytes = 0;
  for (std::uint64_t at = 0; at < its.value; at += window_bytes) {
    const auto part = resident_pages(file_.number(), at, std::min(window_bytes, its.value - at));
    if (!part) {
      return {0, part.errno_value};
    }
    bytes += part.value * page;
  }
  return {bytes, 0};
}

} // namespace nodewise::sys
