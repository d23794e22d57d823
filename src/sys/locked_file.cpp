// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/locked_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nodewise::sys {

answer<locked_file> locked_file::lock(const std::string& path, int flags) {
  // No link: it could make this process overwrite another file.
  const int number = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (number < 0) {
    return {{}, errno};
  }
  locked_file made(number);
  int failed = 0;
  do {
    failed = ::flock(number, LOCK_EX) == 0 ? 0 : errno;
  } while (failed == EINTR);
  return {std::move(made), failed};
}

answer<locked_file> locked_file::open(const std::string& directory, const std::string& name) {
  return lock(directory + "/" + name, 0);
}

answer<locked_file> locked_file::make(const std::string& directory, const std::string& name) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return {{}, errno};
  }
  return lock(directory + "/" + name, O_CREAT);
}

answer<std::string> locked_file::read() const {
  std::string text(4096, '\0');
  ssize_t got = 0;
  while ((got = ::pread(file_.number(), text.data(), text.size(), 0)) < 0 && errno == EINTR) {
  }
  if (got < 0) {
    return {{}, errno};
  }
  text.resize(static_cast<std::size_t>(got));
  return {std::move(text), 0};
}

int locked_file::replace(std::string_view text) const {
  if (::ftruncate(file_.number(), 0) != 0) {
    return errno;
  }
  ssize_t put = 0;
  while ((put = ::pwrite(file_.number(), text.data(), text.size(), 0)) < 0 && errno == EINTR) {
  }
  if (put != static_cast<ssize_t>(text.size())) {
    return put < 0 ? errno : ENOSPC;
  }
  return ::fsync(file_.number()) == 0 ? 0 : errno;
}

} // namespace nodewise::sys
