// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/signals.hpp"

namespace nodewise::sys {

namespace {

using handler = void (*)(int);
handler pipe_handler_before = SIG_ERR; // until it is known

volatile std::sig_atomic_t end_asked = 0;

} // namespace

void ignore_broken_pipes() noexcept {
  pipe_handler_before = std::signal(SIGPIPE, SIG_IGN);
}

void restore_broken_pipes() noexcept {
  if (pipe_handler_before != SIG_ERR) {
    std::signal(SIGPIPE, pipe_handler_before);
  }
}

void pass_on(const siginfo_t& info, pid_t program) noexcept {
  if (info.si_code != SI_KERNEL && info.si_pid != program) {
    ::kill(program, info.si_signo);
  }
}

held_signals::held_signals() noexcept {
  ::sigemptyset(&held_);
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD}) {
    ::sigaddset(&held_, number);
  }
  ::sigprocmask(SIG_BLOCK, &held_, &mask_before_);
  // A parent may have left SIGCHLD ignored; then the kernel would keep no ended child to wait for.
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, &child_before_);
}

held_signals::~held_signals() {
  restore();
}

void held_signals::restore() const noexcept {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void held_signals::restore_for_program() const noexcept {
  restore();
  restore_broken_pipes();
}

siginfo_t held_signals::wait() const noexcept {
  siginfo_t info{};
  while (::sigwaitinfo(&held_, &info) < 0) {
  }
  return info;
}

std::optional<siginfo_t> held_signals::wait(std::chrono::milliseconds most) const noexcept {
  const timespec time{most.count() / 1000, static_cast<long>(most.count() % 1000) * 1'000'000};
  siginfo_t info{};
  return ::sigtimedwait(&held_, &info, &time) < 0 ? std::nullopt : std::optional(info);
}

ending_signals::ending_signals() noexcept {
  struct sigaction handler{};
  handler.sa_handler = [](int) { end_asked = 1; };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ::sigaction(numbers[i], &handler, &before_[i]); // without SA_RESTART: a signal ends a wait
  }
}

ending_signals::~ending_signals() {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ::sigaction(numbers[i], &before_[i], nullptr);
  }
}

bool ending_signals::came() noexcept {
  return end_asked != 0;
}

} // namespace nodewise::sys
