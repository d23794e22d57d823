// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/result.hpp"

#include <cstdlib>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include "attribution/assemble.hpp"
#include "base/environment.hpp"
#include "base/numbers.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "doctor/settings.hpp"
#include "launch/agent_report.hpp"
#include "launch/counted.hpp"
#include "launch/report_file.hpp"
#include "launch/start.hpp"
#include "observe/observer.hpp"
#include "observe/recorder.hpp"
#include "report/progress.hpp"
#include "sys/kernel.hpp"
#include "sys/signals.hpp"

namespace nodewise::cli {

namespace {

/// Pages that the kernel's NUMA balancing has migrated since boot, from /proc/vmstat; 0 if the
/// kernel does not count them.
std::uint64_t read_migrated_pages() {
  constexpr std::string_view label = "\nnuma_pages_migrated ";
  const auto text = sys::real_kernel().read_file("/proc/vmstat");
  const std::size_t at = text ? text.value.find(label) : std::string::npos;
  if (at == std::string::npos) {
    return 0;
  }
  std::string_view digits = std::string_view(text.value).substr(at + label.size());
  return take_number<std::uint64_t>(digits).value_or(0);
}

/// How much memory each node has now, and how much of it is free or holds cached files, from
/// /sys/devices/system/node. Nodes that do not report it are left out.
std::vector<profile::node_memory> memory_of_nodes(const machine& on) {
  std::vector<profile::node_memory> all;
  for (const memory_node& node : on.nodes) {
    if (const auto now = sys::read_node_memory(sys::real_kernel(), node.id)) {
      all.push_back({node.id, now->total_bytes, now->free_bytes, now->cache_bytes, std::nullopt});
    }
  }
  return all;
}

/// Reads the nodes' memory again; `fullest` keeps the values from when a node had the least free.
void look_again(std::vector<profile::node_memory>& all, const machine& on) {
  for (const profile::node_memory& now : memory_of_nodes(on)) {
    const auto same = std::ranges::find(all, now.node, &profile::node_memory::node);
    if (same != all.end() && (!same->fullest || now.free_bytes < same->fullest->free_bytes)) {
      same->fullest = {now.free_bytes, now.cache_bytes};
    }
  }
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Reports where the agent could not bind pages.
void report_unbound(profile::evidence& seen, const launch::run_report& reported) {
  for (const launch::process_report& each : reported.processes) {
    if (each.numa_pinner && each.numa_pinner->refused_errno != 0) {
      seen.missing.push_back(fmt::format(
          "where pages were at first: the kernel may have moved pages whose accesses it sampled, "
          "since they could not be bound in {}: {}; binding them needs Linux 5.15, mbind, "
          "move_pages and close_range",
          each.program, errno_text(static_cast<int>(each.numa_pinner->refused_errno))));
      return;
    }
  }
}

/// The system's state when the observation began, and the fullest state of its nodes since.
struct state_before {
  std::vector<profile::node_memory> memory;
  doctor::settings found = doctor::read_settings(sys::real_kernel());
  std::uint64_t migrated = read_migrated_pages();
};

profile::profile assembled(const observe::recording& recorded, const launch::run_report& reported,
                           const topology& here, const state_before& was,
                           const observe::page_map* mapped = nullptr) {
  report::progress shown("combining page faults", recorded.log.samples());
  const attribution::heard all{recorded,
                               reported,
                               here.machine(),
                               sys::real_kernel().base_page_bytes(),
                               was.found.balances(),
                               read_migrated_pages() - was.migrated,
                               mapped,
                               [&](std::uint64_t samples) { shown.done(samples); }};
  profile::profile made = attribution::assemble(all, sys::real_kernel().thp_bytes());
  made.memory = was.memory;
  if (!was.found.balances()) {
    made.seen.missing.emplace_back(
        "who uses memory later was not sampled: kernel.numa_balancing is off; turn it on (sysctl "
        "kernel.numa_balancing=1), or run the program in the lab, which counts it");
  }
  report_unbound(made.seen, reported);
  return made;
}

/// Under an MPI launcher, the program with the most memory is the rank, whatever started it.
void note_rank(profile::profile& what, const cpu_set& processors) {
  const auto rank = find_local_rank(process_environment);
  const auto largest = largest_position(what);
  if (rank && largest) {
    profile::program& found = what.programs[*largest];
    found.rank = rank->number;
    found.processors = processors.to_string();
  }
}

std::vector<std::string> warnings_of(const launch::run_report& reported) {
  std::vector<std::string> warnings;
  for (const launch::process_report& each : reported.processes) {
    if (each.foreign_malloc) {
      warnings.push_back(
          fmt::format("{} overrides malloc: its arrays have no names", each.program));
    }
  }
  const auto losses =
      launch::losses_of(reported, "profile a shorter run or fewer processes at a time");
  warnings.insert(warnings.end(), losses.begin(), losses.end());
  return warnings;
}

/// An empty recording that states why nothing could be sampled.
observe::recording unsampled(const error& why) {
  observe::recording nothing;
  nothing.begin_ns = nothing.end_ns = now_ns();
  nothing.abilities.missing.push_back(
      fmt::format("{}: {}; {}", why.asked(), why.answered(), why.hint()));
  return nothing;
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

/// Options that regularly read how full the nodes are, and call `others`.
observe::recording_options looking_at(std::vector<profile::node_memory>& memory,
                                      const topology& here, std::function<void()> others) {
  observe::recording_options how;
  how.faults.whole_machine = launch::is_in_lab(process_environment);
  how.now_and_then = [&memory, &here, others = std::move(others)] {
    look_again(memory, here.machine());
    others();
  };
  return how;
}

/// If the kernel refuses to sample, records only the process's memory and says so; under --strict,
/// throws.
observe::recording watch(int pid, const invocation& given,
                         std::vector<profile::node_memory>& memory, const topology& here) {
  using std::chrono::milliseconds;
  const auto duration = given.time(flags::duration, milliseconds{1});
  const auto begin = std::chrono::steady_clock::now();
  report::progress line(fmt::format("watching process {}", pid),
                        static_cast<std::uint64_t>(duration ? duration->count() : 0));
  const observe::recording_options how = looking_at(memory, here, [&] {
    const auto passed = std::chrono::steady_clock::now() - begin;
    line.done(static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(passed).count()));
  });
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

/// After two seconds, says once that the program is being profiled. It does not redraw a line,
/// since the program writes to the same terminal.
std::function<void()> profiling_note(const launch::plan& what, const invocation& given) {
  const auto begin = std::chrono::steady_clock::now();
  const bool silent = given.has(flags::quiet) || ::isatty(STDERR_FILENO) == 0;
  return [&what, begin, done = silent]() mutable {
    if (!done && std::chrono::steady_clock::now() - begin > report::progress::quiet_time) {
      done = true;
      write_error(fmt::format("nodewise: profiling {}; Ctrl-C ends it and shows what was seen\n",
                              what.command.front()));
    }
  };
}

} // namespace

recorded_profile record_program(const launch::plan& what, const topology& here,
                                const invocation& given) {
  state_before was{memory_of_nodes(here.machine())};
  recorded_profile made;
  const launch::report_file report(launch::report_file::for_trace);
  const observe::recording recorded = record(
      [&] {
        launch::apply(what, report.name(), sys::real_kernel());
        launch::become(what);
      },
      given.has(flags::strict), looking_at(was.memory, here, profiling_note(what, given)));
  const launch::run_report reported = report.read();
  made.end = recorded.end;
  made.warnings = warnings_of(reported);
  made.what = assembled(recorded, reported, here, was);
  if (recorded.abilities.first_touches && reported.processes.empty() && made.end.started) {
    made.what.seen.missing.emplace_back(
        "its arrays: the agent was not loaded, as in a statically linked program or one that "
        "changes its user; link it dynamically");
  }
  made.what.command = what.command;
  note_rank(made.what, what.affinity.value_or(here.allowed_cpus()));
  return made;
}

recorded_profile record_process(int pid, const topology& here, const invocation& given) {
  state_before was{memory_of_nodes(here.machine())};
  recorded_profile made;
  observe::observer eye(sys::real_kernel(), here.machine());
  const auto process = sys::real_process(pid);
  observe::page_map mapped = eye.look(*process, {});
  const observe::recording recorded = watch(pid, given, was.memory, here);
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
      "who allocated memory: objects have the names of the memory map; start the program under "
      "nodewise profile to see its arrays");
  if (!latest) {
    made.what.seen.missing.emplace_back(
        "where pages were at its end: it ended while it was watched, and their locations are those "
        "at the beginning");
  }
  return made;
}

} // namespace nodewise::cli
