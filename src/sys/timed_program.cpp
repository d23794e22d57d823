// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/timed_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/descriptor.hpp"
#include "sys/signals.hpp"

namespace nodewise::sys {

namespace {

constexpr std::array ending = {SIGINT, SIGTERM, SIGHUP};

/// While it exists, the signals that end this process can be waited for by poll.
class pollable_signals {
 public:
  pollable_signals() {
    sigset_t held;
    ::sigemptyset(&held);
    for (const int number : ending) {
      ::sigaddset(&held, number);
    }
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
    file_ = descriptor(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  pollable_signals(const pollable_signals&) = delete;
  pollable_signals& operator=(const pollable_signals&) = delete;
  ~pollable_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  [[nodiscard]] int file() const noexcept { return file_.number(); }
  [[nodiscard]] const sigset_t& before() const noexcept { return before_; }

 private:
  descriptor file_;
  sigset_t before_{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> made;
  for (const std::string& word : words) {
    made.push_back(const_cast<char*>(word.c_str())); // posix_spawn changes none
  }
  made.push_back(nullptr);
  return made;
}

/// 0 if it started, else an errno.
int spawn(const timed_program& what, int output, int errors, const sigset_t& mask, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, what.input.c_str(), O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  // A group of its own can be killed as a whole. SIGPIPE and SIGXFSZ may be ignored here, but not
  // in the program.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::sigaddset(&defaults, SIGXFSZ);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  const auto words = pointers_to(what.command);
  const auto variables = pointers_to(what.environment);
  const int refused =
      ::posix_spawnp(&pid, words.front(), &files, &attributes, words.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return refused;
}

/// Sleeps until the program ends, the time has passed or a signal comes.
timed_end::cause wait_for_end(int program, int signals, std::optional<double> most_seconds) {
  std::array<pollfd, 2> files = {{{program, POLLIN, 0}, {signals, POLLIN, 0}}};
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    timespec left{};
    if (most_seconds) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      const double seconds = std::max(0.0, *most_seconds - passed.count());
      left.tv_sec = static_cast<time_t>(seconds);
      left.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    }
    const int ready = ::ppoll(files.data(), files.size(), most_seconds ? &left : nullptr, nullptr);
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready == 0) {
      return timed_end::cause::timed_out;
    }
    return files[0].revents != 0 ? timed_end::cause::ended : timed_end::cause::interrupted;
  }
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string text_in(int file) {
  constexpr std::size_t most = std::size_t{64} << 20;
  std::string text;
  std::array<char, std::size_t{64} << 10> part{};
  while (text.size() < most) {
    const ssize_t got = ::pread(file, part.data(), part.size(), static_cast<off_t>(text.size()));
    if (got <= 0) {
      break;
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// In memory, so that a program never waits for this process to read.
descriptor output_file(bool keep) {
  return descriptor(keep ? ::memfd_create("output", MFD_CLOEXEC)
                         : ::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

} // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    all.emplace_back(*each);
  }
  return all;
}

timed_end run_timed(const timed_program& what) {
  timed_end made;
  const pollable_signals signals;
  const descriptor output = output_file(what.keep_output);
  const descriptor errors = output_file(what.keep_output);
  pid_t pid = 0;
  if (ending_signals::came()) { // before they were blocked
    made.how = timed_end::cause::interrupted;
    return made;
  }
  const auto begin = std::chrono::steady_clock::now();
  made.errno_value = output && errors
                         ? spawn(what, output.number(), errors.number(), signals.before(), pid)
                         : errno;
  if (made.errno_value != 0) {
    made.how = timed_end::cause::not_started;
    return made;
  }
  const descriptor program(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  made.how = wait_for_end(program.number(), signals.file(), what.most_seconds);
  if (made.how != timed_end::cause::ended) {
    ::kill(-pid, SIGKILL);
  }
  rusage used{};
  while (::wait4(pid, &made.wait_status, 0, &used) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  made.wall_seconds = passed.count();
  made.user_seconds = seconds_of(used.ru_utime);
  made.system_seconds = seconds_of(used.ru_stime);
  made.most_resident_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  made.disk_bytes = static_cast<std::uint64_t>(used.ru_inblock) * 512; // the kernel's unit
  if (what.keep_output) {
    made.output = text_in(output.number());
    made.errors = text_in(errors.number());
  }
  return made;
}

} // namespace nodewise::sys
