// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <nodewise/topology.hpp>

#include "cli/exit_codes.hpp"
#include "cli/pages_view.hpp"
#include "cli/pages_watch.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "doctor/settings.hpp"
#include "launch/not_started.hpp"
#include "launch/start.hpp"
#include "launch/supervise.hpp"
#include "observe/ended.hpp"
#include "observe/observer.hpp"
#include "observe/traced_program.hpp"
#include "report/error_text.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli::verbs {

namespace {

using std::chrono::milliseconds;

int pid_of(std::string_view text) {
  int pid = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (failed != std::errc{} || end != text.data() + text.size() || pid <= 0) {
    throw error(error_kind::usage, "the process '" + std::string(text) + "'",
                "it takes the number of a process",
                "`ps -e` lists them; a program to start follows --");
  }
  return pid;
}

std::vector<int> pids_of(const invocation& given) {
  std::vector<int> pids;
  for (const std::string_view text : given.texts(flags::process)) {
    pids.push_back(pid_of(text));
  }
  for (const std::string& text : given.operands) {
    pids.push_back(pid_of(text));
  }
  return pids;
}

std::optional<milliseconds> seconds_of(const invocation& given, const flag& which, double least) {
  const auto text = given.text(which);
  if (!text || text->empty()) {
    return std::nullopt;
  }
  constexpr double most = 1e6;
  double seconds = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (failed != std::errc{} || end != text->data() + text->size() || !(seconds >= least) ||
      seconds > most) {
    throw error(error_kind::usage, option_name(which) + " " + std::string(*text),
                "it takes seconds, such as 0.5 or 10", "give a number from 0.01 to a million");
  }
  return milliseconds{std::lround(seconds * 1000)};
}

observe::method best_method(const invocation& given) {
  const std::string_view text = given.text(flags::method).value_or("auto");
  return text == "move_pages"  ? observe::method::move_pages
         : text == "numa_maps" ? observe::method::numa_maps
                               : observe::method::pagemap;
}

std::string settings_text() {
  const doctor::settings found = doctor::read_settings(sys::real_kernel());
  return "numa_balancing " +
         (found.numa_balancing ? std::to_string(*found.numa_balancing) : "unavailable") + ", THP " +
         found.thp.value_or("unavailable");
}

/// The request, read once from the command line.
struct request {
  explicit request(const invocation& from)
      : given(from), where(topology::from_sysfs()), least_time(0.01),
        how{best_method(from), from.text(flags::method).value_or("auto") == "auto", true, nullptr},
        view{from.has(flags::all_mappings), from.has(flags::totals), settings_text()},
        every(seconds_of(from, flags::interval, least_time)) {
    if (!every && from.has(flags::watch)) {
      constexpr milliseconds usual{1000};
      every = seconds_of(from, flags::watch, least_time).value_or(usual);
    }
    if (const auto times = from.number(flags::count, 1)) {
      looks = static_cast<std::size_t>(*times);
    } else {
      looks = every ? 0 : 1;
    }
    if (!every && looks > 1) {
      every = milliseconds{1000};
    }
  }

  [[nodiscard]] bool as_json() const {
    return given.has(flags::json) || (given.has(flags::output) && !given.has(flags::csv));
  }
  [[nodiscard]] bool as_csv() const { return given.has(flags::csv); }
  /// Whether text is printed; it may accompany a result file.
  [[nodiscard]] bool as_text() const {
    return !given.has(flags::json) && !given.has(flags::csv) && !given.has(flags::quiet);
  }

  const invocation& given;
  topology where;
  double least_time;
  observe::observer::options how;
  pages_view_options view;
  std::optional<milliseconds> every;
  std::size_t looks = 1; ///< 0: until the process ends
};

void refuse_together(const invocation& given, const flag& a, const flag& b) {
  if (given.has(a) && given.has(b)) {
    throw error(error_kind::usage, option_name(a) + " and " + option_name(b),
                "only one of both can be", "leave one of both out");
  }
}

void check(const invocation& given, const std::vector<int>& pids) {
  if (pids.empty() == given.program.empty()) {
    throw error(error_kind::usage, "nodewise pages",
                pids.empty() ? "the process is missing" : "processes and a program to start",
                "write nodewise pages PID, or nodewise pages -- PROGRAM");
  }
  refuse_together(given, flags::json, flags::csv);
  refuse_together(given, flags::watch, flags::json);
  refuse_together(given, flags::csv, flags::totals);
  refuse_together(given, flags::watch, flags::output);
  if (given.has(flags::at) && given.program.empty()) {
    throw error(error_kind::usage, option_name(flags::at), "it is for a program to start",
                "write nodewise pages --at SECONDS -- PROGRAM");
  }
  if (given.has(flags::migrate) && (pids.size() != 1 || !given.program.empty())) {
    throw error(error_kind::usage, option_name(flags::migrate), "it is for one process",
                "write nodewise pages -p PID --migrate FROM:TO");
  }
}

/// Writes CSV and text as samples arrive, and JSON as one document at the end.
class sample_writer {
 public:
  sample_writer(const request& asked, int text_to) : asked_(asked), text_to_(text_to) {}

  void add(pages_sample sample, const watch_screen* screen) {
    if (asked_.as_csv()) {
      const std::string rows = pages_csv(sample, asked_.where.machine());
      if (asked_.given.has(flags::output)) {
        csv_ += rows;
      } else {
        write_out((wrote_header_ ? "" : std::string(pages_csv_header)) + rows);
        wrote_header_ = true;
      }
    }
    if (asked_.as_text()) {
      const report::style how = style_of(text_to_, asked_.given);
      std::string text;
      for (const observe::page_map& map : sample.processes) {
        text += (text.empty() ? "" : "\n") + pages_text(map, how, asked_.view);
      }
      if (screen != nullptr) {
        screen->draw((count_ == 0 || how.terminal ? "" : "\n") + text);
      } else if (text_to_ == STDERR_FILENO) {
        write_error(text);
      } else {
        write_out((count_ == 0 ? "" : "\n") + text);
      }
    }
    ++count_;
    if (asked_.as_json()) {
      samples_.push_back(std::move(sample));
    }
  }

  void finish() {
    if (asked_.as_json()) {
      write_result(pages_json(samples_, asked_.where.machine(), settings_json(sys::real_kernel())),
                   asked_.given);
    } else if (asked_.as_csv() && asked_.given.has(flags::output)) {
      write_result_text(std::string(pages_csv_header) + csv_, asked_.given);
    }
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  const request& asked_;
  int text_to_;
  std::size_t count_ = 0;
  bool wrote_header_ = false;
  std::string csv_;
  std::vector<pages_sample> samples_;
};

/// One observer for each process: it remembers what the process's threads had used.
class watched_processes {
 public:
  watched_processes(const std::vector<int>& pids, const request& asked) : asked_(asked) {
    for (const int pid : pids) {
      all_.push_back(
          {pid, std::make_unique<observe::observer>(sys::real_kernel(), asked.where.machine())});
    }
  }

  /// Samples the processes that still exist. The first call throws any error; later calls leave out
  /// processes that have ended.
  [[nodiscard]] pages_sample look() {
    pages_sample sample{std::chrono::system_clock::now(), {}};
    for (auto at = all_.begin(); at != all_.end();) {
      try {
        const auto process = sys::real_process(at->pid);
        sample.processes.push_back(at->by->look(*process, asked_.how));
        ++at;
      } catch (const error& e) {
        if (first_ || e.errno_value() != ESRCH) {
          throw;
        }
        at = all_.erase(at);
      }
    }
    first_ = false;
    return sample;
  }

 private:
  struct one {
    int pid;
    std::unique_ptr<observe::observer> by;
  };
  const request& asked_;
  std::vector<one> all_;
  bool first_ = true;
};

int look_at_processes(const std::vector<int>& pids, const request& asked) {
  watched_processes processes(pids, asked);
  sample_writer writer(asked, STDOUT_FILENO);
  if (!asked.every) {
    writer.add(processes.look(), nullptr);
    writer.finish();
    return exit_code::ok;
  }
  pages_sample sample = processes.look(); // before `watch_screen`, so that errors stay visible
  {
    const bool drawn = asked.given.has(flags::watch) && asked.as_text() &&
                       style_of(STDOUT_FILENO, asked.given).terminal;
    const watch_screen screen(drawn);
    while (!sample.processes.empty()) {
      writer.add(std::move(sample), &screen);
      if ((asked.looks != 0 && writer.count() >= asked.looks) || !screen.wait(*asked.every)) {
        break;
      }
      sample = processes.look();
    }
  }
  writer.finish();
  return exit_code::ok;
}

/// Runs the program; this command ends as the program does.
int look_at_program(const request& asked) {
  observe::observer by(sys::real_kernel(), asked.where.machine());
  sample_writer writer(asked, asked.as_json() || asked.as_csv() ? STDOUT_FILENO : STDERR_FILENO);
  std::vector<observe::thread_facts> threads; // at their most: none is left at the end
  const auto remember_threads = [&](sys::process& of) {
    auto now = by.look_at_threads(of);
    if (now.size() >= threads.size()) {
      threads = std::move(now);
    }
  };
  const auto take = [&](sys::process& of) {
    observe::observer::options how = asked.how;
    how.threads = &threads;
    pages_sample sample{std::chrono::system_clock::now(), {}};
    sample.processes.push_back(by.look(of, how));
    writer.add(std::move(sample), nullptr);
  };
  observe::program_looks looks;
  looks.after = seconds_of(asked.given, flags::at, 0);
  looks.every = asked.every;
  looks.look = [&](int pid) {
    const auto process = sys::real_process(pid);
    remember_threads(*process);
    take(*process);
  };
  looks.pass_by = [&](int pid) {
    const auto process = sys::real_process(pid);
    remember_threads(*process);
    if (asked.every && (asked.looks == 0 || writer.count() + 1 < asked.looks)) {
      take(*process);
    }
  };
  check_output(asked.given);
  const observe::program_end end = observe::run_and_look(asked.given.program, looks);
  if (end.start_errno != 0) {
    launch::throw_not_started(asked.given.program.front(), end.start_errno);
  }
  writer.finish();
  if (!end.looked) {
    write_error(report::warning_text("the program ended before its pages were looked at",
                                     style_of(STDERR_FILENO, asked.given)));
    if (asked.given.has(flags::strict) && end.wait_status == 0) {
      return exit_code::check_failed;
    }
  }
  launch::outcome how;
  how.wait_status = end.wait_status;
  launch::end_as(how);
}

int migrate(int pid, const request& asked) {
  const std::string text(asked.given.text(flags::migrate).value_or(""));
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    throw error(error_kind::usage, option_name(flags::migrate) + " " + text,
                "the nodes to move to are missing", "write FROM:TO, for example 0-1:2-3");
  }
  // This process's own limits do not apply to another process's pages.
  const topology all(asked.where.machine());
  const auto nodes = [&](const std::string& list) {
    return for_option(flags::migrate,
                      [&] { return spec::resolve_nodes(list, all, spec::node_purpose::memory); });
  };
  const node_set from = nodes(text.substr(0, colon));
  const node_set to = nodes(text.substr(colon + 1));
  const auto process = sys::real_process(pid);
  const auto left = process->migrate(from, to);
  if (!left) {
    if (left.errno_value == ESRCH || !process->user()) {
      observe::throw_unreadable(*process, ESRCH);
    }
    throw error(error_kind::system, option_name(flags::migrate) + " " + text,
                "migrate_pages was refused",
                left.errno_value == EPERM
                    ? "ask as the same user or as root (CAP_SYS_NICE); the nodes must be in the "
                      "process's cpuset"
                    : "the process's cpuset must have the nodes to move to: see Mems_allowed_list "
                      "in /proc/" +
                          std::to_string(pid) + "/status",
                left.errno_value);
  }
  if (!asked.given.has(flags::quiet)) {
    write_out(std::to_string(left.value) + (left.value == 1 ? " page" : " pages") +
              " could not be moved\n");
  }
  return left.value != 0 && asked.given.has(flags::strict) ? exit_code::check_failed
                                                           : exit_code::ok;
}

} // namespace

int pages(const invocation& given) {
  const std::vector<int> pids = pids_of(given);
  check(given, pids);
  const request asked(given);
  if (given.has(flags::migrate)) {
    return migrate(pids.front(), asked);
  }
  if (!pids.empty()) {
    return look_at_processes(pids, asked);
  }
  try {
    return look_at_program(asked);
  } catch (const launch::not_started& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
    return e.exit_code();
  }
}

} // namespace nodewise::cli::verbs
