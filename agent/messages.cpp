// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/messages.hpp"

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include <sys/stat.h>

#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Identifies a file. The time of creation, if the file system has it, is needed because a new file
/// often gets the inode number of one that was just deleted.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  dev_t special_device = 0; ///< of a terminal
  mode_t type = 0;          ///< 0: no file
  std::int64_t created_s = 0;
  std::uint32_t created_ns = 0;

  bool operator==(const file_identity&) const = default;
};

file_identity identity_of(int file) noexcept {
  const int kept = errno;
  file_identity made;
  struct stat facts{};
  if (::fstat(file, &facts) == 0) {
    made = {facts.st_dev, facts.st_ino, facts.st_rdev, facts.st_mode & S_IFMT};
    struct statx more{};
    if (sys::raw::call(SYS_statx, file, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
        (more.stx_mask & STATX_BTIME) != 0) {
      made.created_s = more.stx_btime.tv_sec;
      made.created_ns = more.stx_btime.tv_nsec;
    }
  }
  errno = kept;
  return made;
}

/// If the pipe has no reader any more, the message is lost: SIGPIPE must not end a program that has
/// written nothing itself.
void write_line(const char* line, std::size_t bytes) noexcept {
  sigset_t pipe;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const long answer = sys::raw::call(SYS_write, STDERR_FILENO, line, bytes);
  if (answer == -EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    (void)::sigtimedwait(&pipe, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

constinit file_identity at_start;
constinit std::atomic<bool> remembered{false};

} // namespace

void remember_stderr() noexcept {
  at_start = identity_of(STDERR_FILENO);
  remembered.store(true, std::memory_order_release);
}

void say(const char* format, ...) noexcept {
  if (!remembered.load(std::memory_order_acquire)) {
    remember_stderr(); // called from a constructor before ours
  }
  if (at_start.type == 0 || identity_of(STDERR_FILENO) != at_start) {
    return;
  }
  const int kept = errno;
  char line[512];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const auto bytes = static_cast<std::size_t>(length > 0 ? length : 0);
  write_line(line, bytes < sizeof line ? bytes : sizeof line - 1);
  errno = kept;
}

} // namespace nodewise::agent
