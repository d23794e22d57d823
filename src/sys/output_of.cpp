// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/output_of.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/execute.hpp"

namespace nodewise::sys {

namespace {

/// Starts the command with empty input, output to the pipe and errors discarded. 0 if it started.
int start(const std::vector<std::string>& command, int out, pid_t& pid) {
  const std::vector<char*> words = words_of(command);
  posix_spawn_file_actions_t actions;
  if (const int refused = ::posix_spawn_file_actions_init(&actions)) {
    return refused;
  }
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  const int refused =
      ::posix_spawn(&pid, words.front(), &actions, nullptr, words.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return refused;
}

std::string read_all(int from) {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 1; got != 0;) {
    got = ::read(from, part.data(), part.size());
    if (got > 0 && text.size() < most) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno != EINTR) {
      break;
    }
  }
  return text;
}

} // namespace

std::optional<std::string> output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  pid_t pid = 0;
  const int refused = start(command, ends[1], pid);
  ::close(ends[1]);
  std::string text = refused == 0 ? read_all(ends[0]) : std::string{};
  ::close(ends[0]);
  int status = -1;
  while (refused == 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0 ? std::optional(std::move(text)) : std::nullopt;
}

} // namespace nodewise::sys
