// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/child.hpp"

#include <cerrno>
#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/error.hpp>

#include "sys/signals.hpp"
#include "sys/word_pipe.hpp"

namespace nodewise::sys {

namespace {

/// A signal from the terminal went to the whole foreground group: the program has it already.
bool program_has_it(const siginfo_t& info, pid_t program) noexcept {
  return info.si_code == SI_KERNEL || info.si_pid == program;
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
      if (!program_has_it(info, program)) {
        ::kill(program, info.si_signo);
      }
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

/// Closing the pipe ends the child that waits for a word.
void prepare_or_end(pid_t program, const std::function<void(int pid)>& prepare, word_pipe& go) {
  try {
    prepare(program);
  } catch (...) {
    go.close_writer();
    int status = 0;
    ::waitpid(program, &status, 0);
    throw;
  }
}

} // namespace

int child_end::exit_code() const noexcept {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

child_end run_child(const std::function<void()>& become,
                    const std::function<void(int pid)>& prepare) {
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
  if (prepare) {
    prepare_or_end(program, prepare, go);
  }
  go.send(0);
  how.started = !refusal.receive();
  how.wait_status = wait_for(program, signals);
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
