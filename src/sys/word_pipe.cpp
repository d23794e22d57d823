// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/word_pipe.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <nodewise/error.hpp>

namespace nodewise::sys {

word_pipe::word_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw error(error_kind::system, "cannot start the program", "pipe2 failed",
                "raise the limit of open files (ulimit -n)", errno);
  }
  reader_ = descriptor(ends[0]);
  writer_ = descriptor(ends[1]);
}

void word_pipe::close_writer() noexcept {
  writer_ = descriptor();
}

void word_pipe::send(int value) const noexcept {
  (void)!::write(writer_.number(), &value, sizeof value);
}

std::optional<int> word_pipe::receive() const noexcept {
  int value = 0;
  ssize_t got = 0;
  while ((got = ::read(reader_.number(), &value, sizeof value)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof value) ? std::optional(value) : std::nullopt;
}

} // namespace nodewise::sys
