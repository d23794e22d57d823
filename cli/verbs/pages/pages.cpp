// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <utility>

#include <unistd.h>

#include <nodewise/topology.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/pages/files.hpp"
#include "cli/verbs/pages/flags.hpp"
#include "cli/verbs/pages/view.hpp"
#include "cli/verbs/pages/watch.hpp"
#include "doctor/settings.hpp"
#include "launch/executable.hpp"
#include "launch/start.hpp"
#include "observe/observer.hpp"
#include "observe/refused.hpp"
#include "observe/traced_program.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli::verbs {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds least_time{10};
constexpr milliseconds usual_time{1000};

std::vector<int> pids_of(const invocation& given) {
  std::vector<int> pids;
  std::ranges::transform(given.texts(flags::process), std::back_inserter(pids), process_number);
  std::ranges::transform(given.operands, std::back_inserter(pids), process_number);
  return pids;
}

observe::method best_method(const invocation& given) {
  const std::string_view text = given.text(flags::method).value_or("auto");
  return text == "move_pages"  ? observe::method::move_pages
         : text == "numa_maps" ? observe::method::numa_maps
                               : observe::method::pagemap;
}

std::string settings_text() {
  const doctor::settings found = doctor::read_settings(sys::real_kernel());
  return fmt::format("numa_balancing {}, THP {}",
                     found.numa_balancing ? std::to_string(*found.numa_balancing) : "unavailable",
                     found.thp.value_or("unavailable"));
}

/// The request, read once from the command line.
struct request {
  explicit request(const invocation& from)
      : given(from), where(topology::from_sysfs()),
        how{best_method(from), from.text(flags::method).value_or("auto") == "auto", nullptr, false},
        view{from.has(flags::all_mappings), from.has(flags::totals), settings_text()},
        every(from.time(flags::interval, least_time)) {
    if (!every && from.has(flags::watch)) {
      every = from.time(flags::watch, least_time).value_or(usual_time);
    }
    looks = static_cast<std::size_t>(from.number(flags::count, 1).value_or(every ? 0 : 1));
    if (!every && looks > 1) {
      every = usual_time;
    }
    how.follows = every.has_value();
  }

  const invocation& given;
  topology where;
  observe::observer::options how;
  pages_view_options view;
  std::optional<milliseconds> every;
  std::size_t looks = 1; ///< 0: until the process ends
};

void check(const invocation& given, const std::vector<int>& pids) {
  if (pids.empty() == given.program.empty()) {
    throw error(error_kind::usage, "nodewise pages",
                pids.empty() ? "the process is missing"
                             : "it takes either processes or a program to start",
                "write nodewise pages PID, or nodewise pages -- PROGRAM");
  }
  if (given.has(flags::at) && given.program.empty()) {
    throw error(error_kind::usage, option_name(flags::at), "it needs a program to start",
                "write nodewise pages --at SECONDS -- PROGRAM");
  }
  if (given.has(flags::migrate) && (pids.size() != 1 || !given.program.empty())) {
    throw error(error_kind::usage, option_name(flags::migrate), "it takes exactly one process",
                "write nodewise pages -p PID --migrate FROM:TO");
  }
  if (given.has(flags::watch) && given.has(flags::output) &&
      form_to_write(given) != &flags::openmetrics) {
    throw error(error_kind::usage, "--watch and --output", "they cannot be combined",
                "leave one of them out; only --openmetrics replaces the file at each sample");
  }
}

form_growth growth_of(const flag* form) {
  const auto found = std::ranges::find(pages_forms, form, &cli::form<pages_result>::by);
  return found == pages_forms.end() ? form_growth::at_the_end : found->grows;
}

/// Prints text, and the forms that can be written in parts, as samples arrive. A form that is
/// written anew replaces its file at each sample. The rest is one document at the end.
class sample_writer {
 public:
  sample_writer(const request& asked, int text_to) : asked_(asked), text_to_(text_to) {}

  void add(pages_sample sample, const watch_screen* screen) {
    if (asks_for_text(asked_.given)) {
      const report::style how = style_of(text_to_, asked_.given);
      const std::string text = joined(sample.processes, "\n", [&](const observe::page_map& map) {
        return pages_text(map, how, asked_.view);
      });
      if (screen != nullptr) {
        screen->draw((count == 0 || how.terminal ? "" : "\n") + text);
      } else if (text_to_ == STDERR_FILENO) {
        write_error(text);
      } else {
        write_out((count == 0 ? "" : "\n") + text);
      }
    }
    if (form_ != nullptr) {
      samples_.push_back(std::move(sample));
      if (grows_ != form_growth::at_the_end) {
        take_samples();
      }
      if (prints_parts()) {
        write_out(std::exchange(document_, {}));
      } else if (grows_ == form_growth::anew) {
        write_result(std::exchange(document_, {}), asked_.given);
      }
    }
    ++count;
  }

  void finish() {
    const bool is_written = prints_parts() || (grows_ == form_growth::anew && count != 0);
    if (form_ == nullptr || is_written) {
      return;
    }
    if (grows_ == form_growth::at_the_end || count == 0) {
      take_samples();
    }
    write_result(document_, asked_.given);
  }

  std::size_t count = 0;

 private:
  [[nodiscard]] bool prints_parts() const {
    return grows_ != form_growth::at_the_end && !asked_.given.has(flags::output);
  }
  /// Adds them to the document: a long series of maps would take too much memory.
  void take_samples() {
    const pages_result all{samples_, asked_.where.machine(),
                           grows_ == form_growth::in_parts && count != 0};
    document_ += written(*form_, pages_forms, all);
    samples_.clear();
  }

  const request& asked_;
  int text_to_;
  const flag* form_ = form_to_write(asked_.given);
  form_growth grows_ = growth_of(form_);
  std::string document_;              ///< not yet written
  std::vector<pages_sample> samples_; ///< not yet in the document
};

/// A process and its observer, which remembers what the process's threads had used.
using observed_process = std::pair<int, std::unique_ptr<observe::observer>>;

/// Samples the processes that still exist. The first time, throws any error; later, leaves out
/// processes that have ended.
pages_sample sample_from(std::vector<observed_process>& all, const request& asked, bool first) {
  pages_sample sample{std::chrono::system_clock::now(), {}};
  std::erase_if(all, [&](const observed_process& each) {
    try {
      const auto process = sys::real_process(each.first);
      sample.processes.push_back(each.second->look(*process, asked.how));
      return false;
    } catch (const error& e) {
      if (first || e.errno_value() != ESRCH) {
        throw;
      }
      return true;
    }
  });
  return sample;
}

int look_at_processes(const std::vector<int>& pids, const request& asked) {
  std::vector<observed_process> processes;
  for (const int pid : pids) {
    processes.emplace_back(
        pid, std::make_unique<observe::observer>(sys::real_kernel(), asked.where.machine()));
  }
  sample_writer writer(asked, STDOUT_FILENO);
  // Before `watch_screen`, so that errors stay visible.
  pages_sample sample = sample_from(processes, asked, true);
  if (!asked.every) {
    writer.add(std::move(sample), nullptr);
  } else {
    const watch_screen screen(asked.given.has(flags::watch) && asks_for_text(asked.given) &&
                              style_of(STDOUT_FILENO, asked.given).terminal);
    while (!sample.processes.empty()) {
      writer.add(std::move(sample), &screen);
      if ((asked.looks != 0 && writer.count >= asked.looks) || !screen.wait(*asked.every)) {
        break;
      }
      sample = sample_from(processes, asked, false);
    }
  }
  writer.finish();
  return exit_code::ok;
}

/// Runs the program; this command ends as the program does.
int look_at_program(const request& asked) {
  observe::observer by(sys::real_kernel(), asked.where.machine());
  sample_writer writer(asked,
                       form_to_write(asked.given) != nullptr ? STDOUT_FILENO : STDERR_FILENO);
  std::vector<observe::thread_facts> threads; // at their most: none is left at the end
  const auto look = [&](int pid, bool shown) {
    const auto process = sys::real_process(pid);
    if (auto now = by.look_at_threads(*process); now.size() >= threads.size()) {
      threads = std::move(now);
    }
    if (shown) {
      observe::observer::options how = asked.how;
      how.threads = &threads;
      pages_sample sample{std::chrono::system_clock::now(), {}};
      sample.processes.push_back(by.look(*process, how));
      writer.add(std::move(sample), nullptr);
    }
  };
  observe::program_looks looks;
  looks.after = asked.given.time(flags::at, milliseconds{0});
  looks.every = asked.every;
  looks.look = [&](int pid) { look(pid, true); };
  looks.pass_by = [&](int pid) {
    look(pid, asked.every && (asked.looks == 0 || writer.count + 1 < asked.looks));
  };
  check_output(asked.given);
  const observe::program_end end = observe::run_and_look(asked.given.program, looks);
  if (end.start_errno != 0) {
    throw launch::why_not_started(asked.given.program.front(), end.start_errno);
  }
  writer.finish();
  if (!end.looked) {
    write_error(report::warning_text("the program ended before its pages were sampled",
                                     style_of(STDERR_FILENO, asked.given)));
    if (asked.given.has(flags::strict) && end.wait_status == 0) {
      return exit_code::check_failed;
    }
  }
  sys::end_as({.wait_status = end.wait_status});
}

int migrate(int pid, const request& asked) {
  const std::string_view text = asked.given.text(flags::migrate).value_or("");
  const std::string what = fmt::format("--migrate {}", text);
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    throw error(error_kind::usage, what, "the nodes to move to are missing",
                "write FROM:TO, for example 0-1:2-3");
  }
  // This process's own limits do not apply to another process's pages.
  const topology all(asked.where.machine());
  const auto nodes = [&](std::string_view list) {
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
    throw error(error_kind::system, what, "migrate_pages was refused",
                left.errno_value == EPERM
                    ? "run it as the process's user or as root (CAP_SYS_NICE); the nodes must be "
                      "in the process's cpuset"
                    : fmt::format("the nodes to move to must be in the process's cpuset: see "
                                  "Mems_allowed_list in /proc/{}/status",
                                  pid),
                left.errno_value);
  }
  if (!asked.given.has(flags::quiet)) {
    write_out(fmt::format("{} could not be moved\n",
                          counted(static_cast<std::size_t>(left.value), "page")));
  }
  return left.value != 0 && asked.given.has(flags::strict) ? exit_code::check_failed
                                                           : exit_code::ok;
}

} // namespace

int pages(const invocation& given) {
  if (given.has(flags::of_files)) {
    return show_cached_files(given);
  }
  const std::vector<int> pids = pids_of(given);
  check(given, pids);
  const request asked(given);
  if (given.has(flags::migrate)) {
    return migrate(pids.front(), asked);
  }
  return pids.empty() ? look_at_program(asked) : look_at_processes(pids, asked);
}

} // namespace nodewise::cli::verbs
