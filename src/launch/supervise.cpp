// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/supervise.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/error.hpp>

#include "launch/report_file.hpp"
#include "launch/start.hpp"
#include "sys/signals.hpp"

namespace nodewise::launch {

namespace {

/// Open until the program runs: exec closes it, a byte in it says that there was no exec.
class start_pipe {
 public:
  start_pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw error(error_kind::system, "a pipe to the program", "none was made",
                  "raise the limit of open files (ulimit -n)", errno);
    }
  }
  start_pipe(const start_pipe&) = delete;
  start_pipe& operator=(const start_pipe&) = delete;
  ~start_pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  void say_failed() const noexcept { (void)!::write(ends_[1], "!", 1); }
  /// In the parent: waits until the program runs or failed to.
  [[nodiscard]] bool started() noexcept {
    ::close(std::exchange(ends_[1], -1));
    char byte = 0;
    ssize_t got = 0;
    while ((got = ::read(ends_[0], &byte, 1)) < 0 && errno == EINTR) {
    }
    return got == 0;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

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

int wait_for(pid_t program, const sys::held_signals& signals) noexcept {
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

/// Threads other than the team that memory was laid out for have other blocks of a loop. One thread
/// alone is a helper of the program, such as a script's shell, and is shown in the table.
void judge_team(const plan& what, const process_report& process, const std::string& name,
                std::vector<std::string>& warnings) {
  const auto workers = count_workers(process);
  if (!what.layout || what.agent->owners.empty() || process.objects.empty() || !workers ||
      *workers == 1 || *workers == what.layout->size()) {
    return;
  }
  const std::string ran = std::to_string(*workers);
  warnings.push_back(name + " ran with " + ran + " threads, and was laid out for " +
                     std::to_string(what.layout->size()) + ": give --threads " + ran);
}

/// A rule that fits nothing is most likely a typing error.
void judge_rules(const plan& what, outcome& how) {
  for (std::size_t i = 0; i < what.agent->rules.size(); ++i) {
    const bool fitted = std::ranges::any_of(how.report.processes, [&](const auto& process) {
      return std::ranges::any_of(process.objects,
                                 [&](const object_report& object) { return object.rule == i; });
    });
    if (!fitted) {
      how.rules_fit = false;
      how.warnings.push_back("--rule " + what.agent->rules[i].text + ": no array fits it");
    }
  }
}

void judge(const plan& what, outcome& how) {
  const auto warn = [&](std::string text) { how.warnings.push_back(std::move(text)); };
  if (how.report.processes.empty()) {
    warn("the agent has reported nothing: it was not loaded");
  }
  if (how.report.damaged_bytes != 0) {
    warn("the agent's report is damaged: " + std::to_string(how.report.damaged_bytes) +
         " bytes make no sense; is the disk of TMPDIR full?");
  }
  for (std::size_t i = 0; i < how.report.processes.size(); ++i) {
    const process_report& process = how.report.processes[i];
    const std::string name = process.program + "[" + std::to_string(process.pid) + "]";
    if (process.foreign_malloc) {
      warn(name + " brings its own malloc: nothing of it is placed or reported");
    }
    const completeness told = completeness_of(how.report, i);
    if (told == completeness::died) {
      warn(name + " did not end by exit: what it had not freed is unknown");
    } else if (told == completeness::replaced) {
      warn(name + " became another program: what it had not freed is unknown");
    }
    judge_team(what, process, name, how.warnings);
    if (process.totals && process.totals->stripped != 0 && what.agent->places_memory()) {
      warn(name + ": static arrays of " + std::to_string(process.totals->stripped) +
           " of its files have no symbols: left alone");
    }
    if (process.totals && process.totals->lost != 0) {
      warn(name + ": " + std::to_string(process.totals->lost) +
           " records of its report could not be written; is the disk of TMPDIR full?");
    }
    if (process.totals && process.totals->left_out != 0) {
      warn(name + ": " + std::to_string(process.totals->left_out) +
           " more objects without a report of their own");
    }
  }
  judge_rules(what, how);
}

} // namespace

int outcome::exit_code() const noexcept {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

outcome supervise(const plan& what, sys::kernel& kernel) {
  const report_file report;
  start_pipe pipe;
  outcome how;
  {
    const sys::held_signals signals;
    const pid_t program = ::fork();
    if (program < 0) {
      throw error(error_kind::system, "a process for the program", "fork was refused",
                  "raise the limit of processes (ulimit -u)", errno);
    }
    if (program == 0) {
      signals.restore_for_program();
      try {
        apply(what, report.name(), kernel);
        become(what);
      } catch (...) {
        pipe.say_failed();
        throw;
      }
    }
    how.started = pipe.started();
    how.wait_status = wait_for(program, signals);
  }
  if (how.started && what.agent) {
    how.report = read_agent_report(report.read());
    judge(what, how);
  }
  return how;
}

void end_as(const outcome& how) {
  if (WIFSIGNALED(how.wait_status)) {
    // The program may have left a core file; its launcher has nothing to add.
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

} // namespace nodewise::launch
