// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/page_cache.hpp"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "sys/cached_file.hpp"

namespace nodewise::page_cache {

namespace {

constexpr const char* door = "/proc/sys/vm/drop_caches";

int write_to(const char* path, std::string_view text) noexcept {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int failed = written ? 0 : errno;
  ::close(file);
  return failed;
}

} // namespace

bool may_drop_everything() noexcept {
  return ::access(door, W_OK) == 0;
}

int drop_everything() {
  // Check permission first: writing dirty pages can take minutes.
  if (!may_drop_everything()) {
    return errno;
  }
  ::sync();
  return write_to(door, "1\n");
}

dropped drop_file(const std::string& path) {
  const auto file = sys::cached_file::open(path);
  if (!file) {
    return {file.errno_value, {}};
  }
  int failed = file.value.write_out();
  if (failed == EROFS || failed == EINVAL) { // nothing that could be dirty
    failed = 0;
  }
  if (failed == 0) {
    failed = file.value.advise_unneeded();
  }
  if (failed != 0) {
    return {failed, {}};
  }
  const auto resident = file.value.resident_bytes();
  return {0, resident ? std::optional(resident.value) : std::nullopt};
}

void be_first_to_be_ended() noexcept {
  (void)write_to("/proc/self/oom_score_adj", "1000\n");
}

} // namespace nodewise::page_cache
