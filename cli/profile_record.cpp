// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profile_record.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

#include "attribution/assemble.hpp"
#include "base/local_rank.hpp"
#include "cli/profile_flags.hpp"
#include "cli/profile_memory.hpp"
#include "cli/terminal.hpp"
#include "doctor/settings.hpp"
#include "launch/agent_report.hpp"
#include "launch/counted.hpp"
#include "launch/report_file.hpp"
#include "launch/start.hpp"
#include "observe/observer.hpp"
#include "observe/recorder.hpp"
#include "report/progress.hpp"
#include "sys/signals.hpp"

namespace nodewise::cli {

namespace {

const char* environment_value(const char* name) {
  return std::getenv(name);
}

std::string sentence_of(const error& what) {
  return what.asked() + ": " + what.answered() + "; " + what.hint();
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Reports what cannot be observed on this system, whatever is sampled.
void tell_missing(profile::evidence& seen, const doctor::settings& found) {
  if (!found.balances()) {
    seen.missing.emplace_back(
        "who uses memory later was not sampled: kernel.numa_balancing is off; switch it on (sysctl "
        "kernel.numa_balancing=1), or run the program in the lab, which counts it");
  }
}

/// Reports where the agent could not bind pages.
void report_unbound(profile::evidence& seen, const launch::run_report& told) {
  for (const launch::process_report& each : told.processes) {
    if (each.numa_pinner && each.numa_pinner->refused_errno != 0) {
      seen.missing.push_back("where its pages were first: the kernel may have moved what it "
                             "sampled accesses of, since they could not be bound in " +
                             each.program + ": " + errno_text(each.numa_pinner->refused_errno) +
                             "; binding them needs Linux 5.12, mbind, move_pages and close_range");
      return;
    }
  }
}

/// The system's state when the observation began, and the fullest state of its nodes since.
struct state_before {
  doctor::settings found;
  std::vector<profile::node_memory> memory;
  std::uint64_t migrated = 0;

  explicit state_before(const topology& here)
      : found(doctor::read_settings(sys::real_kernel())),
        memory(read_node_memory(here.machine(), sys::real_kernel())),
        migrated(read_migrated_pages(sys::real_kernel())) {}
};

profile::profile assembled(const observe::recording& recorded, const launch::run_report& told,
                           const topology& here, const state_before& was,
                           const observe::page_map* mapped = nullptr) {
  report::progress shown("putting page faults together", recorded.log.samples());
  const attribution::heard all{recorded,
                               told,
                               here.machine(),
                               sys::real_kernel().base_page_bytes(),
                               was.found.balances(),
                               read_migrated_pages(sys::real_kernel()) - was.migrated,
                               mapped,
                               [&](std::uint64_t samples) { shown.done(samples); }};
  profile::profile made = attribution::assemble(all, sys::real_kernel().thp_bytes());
  made.memory = was.memory;
  tell_missing(made.seen, was.found);
  report_unbound(made.seen, told);
  return made;
}

/// Under an MPI launcher, the program with the most memory is the rank, whatever started it.
void note_rank(profile::profile& what, const cpu_set& processors) {
  const auto rank = find_local_rank(environment_value);
  const profile::program* const largest = profile::largest_program(what);
  if (rank && largest != nullptr) {
    profile::program& found =
        what.programs[static_cast<std::size_t>(largest - what.programs.data())];
    found.rank = rank->number;
    found.processors = processors.to_string();
  }
}

void add_notes(const launch::run_report& told, std::vector<std::string>& warnings) {
  for (const launch::process_report& each : told.processes) {
    if (each.foreign_malloc) {
      warnings.push_back(each.program + " brings its own malloc: its arrays have no names");
    }
  }
  for (std::string& loss :
       launch::losses_of(told, "profile a shorter run or fewer processes at a time")) {
    warnings.push_back(std::move(loss));
  }
}

/// An empty recording that states why nothing could be sampled.
observe::recording unsampled(const error& why) {
  observe::recording nothing;
  nothing.begin_ns = nothing.end_ns = now_ns();
  nothing.abilities.missing.push_back(sentence_of(why));
  return nothing;
}

/// Empty: until the process ends.
std::optional<std::chrono::milliseconds> duration_of(const invocation& given) {
  const auto text = given.text(flags::duration);
  if (!text) {
    return std::nullopt;
  }
  constexpr double most = 1e6;
  double seconds = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (failed != std::errc{} || end != text->data() + text->size() || !(seconds > 0) ||
      seconds > most) {
    throw error(error_kind::usage, option_name(flags::duration) + " " + std::string(*text),
                "it takes seconds, such as 0.5 or 10", "give a number up to a million");
  }
  return std::chrono::milliseconds{std::lround(seconds * 1000)};
}

/// If the kernel refuses to sample, the program runs with the agent's records alone. With
/// `or_nothing` it does not run then.
observe::recording record(const std::function<void()>& become, bool or_nothing,
                          const observe::recording_options& how) {
  const pid_t parent = ::getpid();
  try {
    return observe::record_program(become, how);
  } catch (const error& e) {
    const bool is_child = ::getpid() != parent; // the child, which could not become the program
    if (is_child || or_nothing) {
      throw;
    }
    observe::recording nothing = unsampled(e);
    nothing.end = sys::run_child(become);
    nothing.end_ns = now_ns();
    return nothing;
  }
}

/// If the kernel refuses to sample, records only the process's memory and says so; under --strict,
/// throws.
observe::recording watch(int pid, std::optional<std::chrono::milliseconds> duration,
                         const invocation& given, const observe::recording_options& how) {
  const sys::ending_signals ending;
  try {
    return observe::record_process(pid, duration, [] { return sys::ending_signals::came(); }, how);
  } catch (const error& e) {
    if (given.has(flags::strict) || e.kind() == error_kind::usage) {
      throw;
    }
    observe::recording nothing = unsampled(e);
    nothing.pid = pid;
    nothing.ended = false;
    return nothing;
  }
}

/// Options that regularly read how full the nodes are, and call `others`.
observe::recording_options looking_at(std::vector<profile::node_memory>& memory,
                                      const topology& here, std::function<void()> others) {
  observe::recording_options how;
  how.faults.whole_machine = launch::is_in_lab(environment_value);
  how.now_and_then = [&memory, &here, others = std::move(others)] {
    look_again(memory, here.machine(), sys::real_kernel());
    others();
  };
  return how;
}

/// After two seconds, says once that the program is being profiled. It does not redraw a line,
/// since the program writes to the same terminal.
class profiling_note {
 public:
  profiling_note(const launch::plan& what, const invocation& given)
      : text_("nodewise: profiling " + what.command.front() +
              "; Ctrl-C ends it and shows what was seen\n"),
        said_(given.has(flags::quiet) || ::isatty(STDERR_FILENO) == 0) {}

  void operator()() {
    if (!said_ && std::chrono::steady_clock::now() - begin_ > report::progress::quiet_time) {
      said_ = true;
      write_error(text_);
    }
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string text_;
  bool said_;
};

/// For a process that was already running: how long it has been watched, and for how long in all.
class watching_line {
 public:
  watching_line(int pid, std::optional<std::chrono::milliseconds> duration)
      : shown_("watching process " + std::to_string(pid),
               static_cast<std::uint64_t>(duration ? duration->count() : 0)) {}

  void operator()() {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    shown_.done(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(passed).count()));
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  report::progress shown_;
};

} // namespace

recorded_profile record_program(const launch::plan& what, const topology& here,
                                const invocation& given) {
  state_before was(here);
  recorded_profile made;
  const launch::report_file report(launch::report_file::for_trace);
  profiling_note note(what, given);
  const observe::recording recorded = record(
      [&] {
        launch::apply(what, report.name(), sys::real_kernel());
        launch::become(what);
      },
      given.has(flags::strict), looking_at(was.memory, here, std::ref(note)));
  const launch::run_report told = report.read();
  made.end = recorded.end;
  add_notes(told, made.warnings);
  made.what = assembled(recorded, told, here, was);
  if (recorded.abilities.first_touches && told.processes.empty() && made.end.started) {
    made.what.seen.missing.emplace_back(
        "its arrays: no agent was loaded, as in a statically linked program or one that changes "
        "its user; link it dynamically");
  }
  made.what.command = what.command;
  note_rank(made.what, what.affinity.value_or(here.allowed_cpus()));
  return made;
}

recorded_profile record_process(int pid, const topology& here, const invocation& given) {
  state_before was(here);
  const auto duration = duration_of(given);
  recorded_profile made;
  observe::observer eye(sys::real_kernel(), here.machine());
  const auto process = sys::real_process(pid);
  observe::page_map mapped = eye.look(*process, {});
  const observe::recording recorded = [&] {
    watching_line line(pid, duration);
    return watch(pid, duration, given, looking_at(was.memory, here, std::ref(line)));
  }();
  bool latest = false;
  if (!recorded.ended) {
    try {
      mapped = eye.look(*process, {});
      latest = true;
    } catch (const error&) { // it has just ended
    }
  }
  made.what = assembled(recorded, {}, here, was, &mapped);
  made.what.seen.missing.emplace_back(
      "who asked for memory: objects have the names that the memory map has; start the program "
      "under nodewise profile to see its arrays");
  if (!latest) {
    made.what.seen.missing.emplace_back(
        "where pages were at its end: it ended while it was watched, and they are told as they "
        "were at the beginning");
  }
  return made;
}

} // namespace nodewise::cli
