// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/report_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include <nodewise/error.hpp>

namespace nodewise::launch {

namespace {

[[noreturn]] void refuse(const std::string& where, const char* answered) {
  throw error(error_kind::system, "a file for the agent's report, " + where, answered,
              "set TMPDIR to a directory with room that you may write to", errno);
}

} // namespace

report_file::report_file() {
  const char* const parent = std::getenv("TMPDIR");
  // The program may change its directory before it reports.
  directory_ = parent != nullptr && *parent == '/' ? parent : "/tmp";
  directory_ += "/nodewise-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) {
    refuse(directory_, "its directory was not made");
  }
  name_ = directory_ + "/report";
  const int file = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    const int kept = errno;
    ::rmdir(directory_.c_str());
    errno = kept;
    refuse(name_, "it was not made");
  }
  ::close(file);
}

report_file::~report_file() {
  ::unlink(name_.c_str());
  ::rmdir(directory_.c_str());
}

std::string report_file::read() const {
  const int file = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    refuse(name_, "it is gone");
  }
  std::string text;
  std::array<char, 65536> part;
  ssize_t got = 0;
  while ((got = ::read(file, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  if (got < 0) {
    refuse(name_, "it cannot be read");
  }
  return text;
}

} // namespace nodewise::launch
