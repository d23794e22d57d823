// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/traced_program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/error.hpp>

#include "sys/programs.hpp"
#include "sys/signals.hpp"

namespace nodewise::observe {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Watches the program to its end.
class watched_program {
 public:
  watched_program(const program_looks& looks, pid_t pid, const sys::held_signals& signals)
      : looks_(looks), pid_(pid), signals_(signals) {}

  program_end run() {
    const auto begin = steady_clock::now();
    milliseconds pause = looks_.every.value_or(milliseconds{10});
    auto next = begin + pause;
    while (!ended_) {
      const auto now = steady_clock::now();
      if (looks_.after && !end_.looked && now - begin >= *looks_.after) {
        look();
      } else if (now >= next) {
        looks_.pass_by(pid_);
        // Often at first, for short programs; less often later, for long ones.
        constexpr milliseconds longest{1000};
        pause = looks_.every.value_or(std::min(pause * 3 / 2, longest));
        next = steady_clock::now() + pause;
      }
      auto until = next;
      if (looks_.after && !end_.looked) {
        until = std::min(until, begin + *looks_.after);
      }
      take(signals_.wait(std::max(
          milliseconds{1}, std::chrono::duration_cast<milliseconds>(until - steady_clock::now()))));
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return end_;
  }

 private:
  void look() {
    end_.looked = true;
    try {
      looks_.look(pid_);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void take(const std::optional<siginfo_t>& info) {
    if (info && info->si_signo != SIGCHLD) {
      sys::pass_on(*info, pid_);
      return;
    }
    int status = 0;
    while (::waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_) {
      if (!WIFSTOPPED(status)) {
        end_.wait_status = status;
        ended_ = true;
        return;
      }
      let_go_on(status);
    }
  }

  void let_go_on(int status) {
    const int number = WSTOPSIG(status);
    const int event = status >> 16;
    const bool stops =
        number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
    if (event == PTRACE_EVENT_EXIT) {
      if (!end_.looked) {
        look();
      }
      ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    } else if (event == PTRACE_EVENT_STOP || looks_.after) {
      if (!looks_.after) {
        ::ptrace(stops ? PTRACE_LISTEN : PTRACE_CONT, pid_, nullptr, nullptr);
      }
      // Stopped from the terminal: the shell expects the command to stop as well.
      if (stops && number != SIGSTOP) {
        ::raise(SIGSTOP);
      }
    } else {
      // ptrace takes the signal to deliver in the place of a pointer.
      ::ptrace(PTRACE_CONT, pid_, nullptr, static_cast<long>(number));
    }
  }

  const program_looks& looks_;
  pid_t pid_;
  const sys::held_signals& signals_;
  program_end end_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

/// Kills it, in whatever state it is.
void finish_off(pid_t pid) noexcept {
  ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    ::ptrace(PTRACE_CONT, pid, nullptr, nullptr);
  }
}

/// SEIZE, not TRACEME, so that stops and signals of the program work as usual.
void trace_to_its_end(pid_t pid) {
  if (::ptrace(PTRACE_SEIZE, pid, nullptr, static_cast<long>(PTRACE_O_TRACEEXIT)) == 0) {
    return;
  }
  const int refused = errno;
  finish_off(pid);
  throw error(error_kind::system, "cannot stop the program just before its end",
              "it may not be traced",
              "give the time of the observation with --at SECONDS, or permit ptrace "
              "(a container: --cap-add SYS_PTRACE; kernel.yama.ptrace_scope below 3)",
              refused);
}

} // namespace

program_end run_and_look(const std::vector<std::string>& command, const program_looks& looks) {
  sys::word_pipe go;
  sys::word_pipe failed;
  const sys::held_signals signals;
  const pid_t pid = ::fork();
  if (pid < 0) {
    throw error(error_kind::system, "cannot start the program", "fork was refused",
                "raise the limit of processes (ulimit -u)", errno);
  }
  if (pid == 0) {
    go.close_writer();
    signals.restore_for_program();
    (void)go.receive();
    failed.send(sys::execute(command));
    ::_exit(127);
  }
  failed.close_writer();
  if (!looks.after) {
    trace_to_its_end(pid);
  }
  go.send(0);
  if (const auto refused = failed.receive()) {
    finish_off(pid);
    return {*refused, 0, false};
  }
  return watched_program(looks, pid, signals).run();
}

} // namespace nodewise::observe
