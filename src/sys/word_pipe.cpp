// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/word_pipe.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <nodewise/error.hpp>

namespace nodewise::sys {

word_pipe::word_pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
    throw error(error_kind::system, "a pipe to the program", "none was made",
                "raise the limit of open files (ulimit -n)", errno);
  }
}

word_pipe::~word_pipe() {
  ::close(ends_[0]);
  close_writer();
}

void word_pipe::close_writer() noexcept {
  if (ends_[1] >= 0) {
    ::close(std::exchange(ends_[1], -1));
  }
}

void word_pipe::send(int value) const noexcept {
  (void)!::write(ends_[1], &value, sizeof value);
}

std::optional<int> word_pipe::receive() const noexcept {
  int value = 0;
  ssize_t got = 0;
  while ((got = ::read(ends_[0], &value, sizeof value)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof value) ? std::optional(value) : std::nullopt;
}

} // namespace nodewise::sys
