// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/file_paths.hpp"

#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/modules.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t room = std::size_t{1} << 20; // reserved: it takes memory as it is used
constexpr std::size_t longest_path = 4096;

/// A descriptor by its name, which takes no other descriptor.
struct link_of {
  char text[32];

  explicit link_of(int file) noexcept {
    std::snprintf(text, sizeof text, "/proc/self/fd/%d", file);
  }
};

const char* keep_path_of(const link_of& file) noexcept {
  auto* const path = static_cast<char*>(sys::raw::map(longest_path, PROT_READ | PROT_WRITE, 0));
  if (path == nullptr) {
    return nullptr;
  }
  const long length = sys::raw::call(SYS_readlinkat, AT_FDCWD, file.text, path, longest_path - 1);
  const char* const name = length > 0 ? file_paths.keep(path) : nullptr;
  sys::raw::unmap(path, longest_path);
  return name;
}

bool may_know_cached_pages(const link_of& file, const struct stat& of) noexcept {
  return of.st_uid == ::geteuid() || sys::raw::call(SYS_faccessat, AT_FDCWD, file.text, W_OK) == 0;
}

} // namespace

char* path_store::memory() noexcept {
  char* now = memory_.load(std::memory_order_acquire);
  if (now != nullptr) {
    return now;
  }
  auto* const fresh =
      static_cast<char*>(sys::raw::map(room, PROT_READ | PROT_WRITE, MAP_NORESERVE));
  if (fresh != nullptr && !memory_.compare_exchange_strong(now, fresh)) {
    sys::raw::unmap(fresh, room);
    return now;
  }
  return fresh;
}

const char* path_store::keep(const char* path) noexcept {
  char* const all = memory();
  if (all == nullptr) {
    return nullptr;
  }
  const std::size_t bytes = std::strlen(path) + 1;
  const std::size_t used = used_.load(std::memory_order_acquire);
  for (std::size_t at = 1; at < used && at < room;) {
    if (std::strcmp(all + at, path) == 0) {
      return last_part(all + at);
    }
    at += std::strlen(all + at) + 1; // a path that another thread still copies looks empty
  }
  const std::size_t at = used_.fetch_add(bytes, std::memory_order_acq_rel);
  if (at > room || bytes > room - at) {
    return nullptr;
  }
  std::memcpy(all + at, path, bytes);
  return last_part(all + at);
}

const char* path_store::path_of(const char* name) noexcept {
  while (name[-1] != '\0') {
    --name;
  }
  return name;
}

mapped_file::mapped_file(int file, off_t offset, std::size_t least) noexcept {
  struct stat of{};
  if (::fstat(file, &of) != 0 || !S_ISREG(of.st_mode) || offset < 0 || of.st_size <= offset) {
    return;
  }
  bytes_behind = static_cast<std::size_t>(of.st_size - offset);
  if (bytes_behind < least) {
    return;
  }
  const link_of link(file);
  hides_pages = !may_know_cached_pages(link, of);
  name = keep_path_of(link);
}

} // namespace nodewise::agent
