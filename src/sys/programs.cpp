// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/programs.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/error.hpp>

#include "sys/signals.hpp"

namespace nodewise::sys {

namespace {

/// The words as exec and posix_spawn take them, which change none; valid as long as `command`.
std::vector<char*> words_of(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  return words;
}

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

/// The program was stopped from the terminal: the shell expects the launcher to stop as well.
void stop_with_it(int wait_status) noexcept {
  const int number = WSTOPSIG(wait_status);
  if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) {
    ::raise(SIGSTOP);
  }
}

int wait_for(pid_t program, const held_signals& signals) noexcept {
  for (;;) {
    const siginfo_t info = signals.wait();
    if (info.si_signo != SIGCHLD) {
      pass_on(info, program);
      continue;
    }
    int status = 0;
    while (::waitpid(program, &status, WUNTRACED | WNOHANG) == program) {
      if (!WIFSTOPPED(status)) {
        return status;
      }
      stop_with_it(status);
    }
  }
}

} // namespace

int execute(const std::vector<std::string>& command) {
  const std::vector<char*> words = words_of(command);
  restore_broken_pipes(); // the new program would inherit an ignored signal
  ::execvp(words.front(), words.data());
  return errno;
}

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

word_pipe::word_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw error(error_kind::system, "cannot start the program", "pipe2 failed",
                "raise the limit of open files (ulimit -n)", errno);
  }
  reader_ = descriptor(ends[0]);
  writer_ = descriptor(ends[1]);
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

int child_end::exit_code() const noexcept {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

child_end run_child(const std::function<void()>& become,
                    const std::function<void(int pid)>& prepare,
                    const std::function<void()>& finish) {
  word_pipe go;      // a word means begin; no word: the launcher has died or given up
  word_pipe refusal; // a word means that exec failed; exec closes it
  child_end how;
  const held_signals signals;
  const pid_t program = ::fork();
  if (program < 0) {
    throw error(error_kind::system, "cannot start the program", "fork failed",
                "raise the limit of processes (ulimit -u)", errno);
  }
  if (program == 0) {
    go.close_writer();
    if (!go.receive()) {
      ::_exit(127);
    }
    signals.restore_for_program();
    try {
      become();
    } catch (...) {
      refusal.send(1);
      throw;
    }
  }
  refusal.close_writer();
  try {
    if (prepare) {
      prepare(program);
    }
  } catch (...) {
    go.close_writer(); // ends the child, which waits for a word
    int status = 0;
    ::waitpid(program, &status, 0);
    throw;
  }
  go.send(0);
  how.started = !refusal.receive();
  how.wait_status = wait_for(program, signals);
  if (finish) {
    finish();
  }
  return how;
}

void end_as(const child_end& how) {
  if (WIFSIGNALED(how.wait_status)) {
    // The program may have left a core file; the launcher must not add its own.
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
    const int number = WTERMSIG(how.wait_status);
    ::signal(number, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, number);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(number);
  }
  ::_exit(how.exit_code());
}

} // namespace nodewise::sys
