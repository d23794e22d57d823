// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/lab/runner.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/machine/source.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/start/flags.hpp"
#include "cli/traffic/view.hpp"
#include "plan/plan_json.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

constexpr std::string_view to_standard_output = "-";

/// An unnamed file that the runner inherits and writes through its descriptor number.
class inherited_file {
 public:
  inherited_file() : descriptor_(::memfd_create("counts", 0)) {
    if (descriptor_ < 0) {
      throw error(error_kind::system, "cannot create a file for the traffic count", "",
                  "check the limits of memory and of open files", errno);
    }
  }
  inherited_file(const inherited_file&) = delete;
  inherited_file& operator=(const inherited_file&) = delete;
  ~inherited_file() { ::close(descriptor_); }

  [[nodiscard]] std::string name() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, 1 << 16> part{};
    for (;;) {
      const ssize_t got =
          ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(text.size()));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) { // a partial file is later detected as cut off
        return text;
      }
      text.append(part.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  int descriptor_;
};

std::vector<std::string> words_with_options(const invocation& given,
                                            const std::vector<std::string>& machines,
                                            const char* grace_seconds) {
  std::vector<std::string> words = {"run"};
  for (const auto& part : {machines, runner_options(given)}) {
    words.insert(words.end(), part.begin(), part.end());
  }
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    words.emplace_back("--tty");
  }
  if (grace_seconds != nullptr) {
    words.insert(words.end(), {"--grace", grace_seconds});
  }
  words.emplace_back("--");
  return words;
}

/// Standard input restarts at `input_begin` if it is a file; otherwise it is empty.
void discard_output(off_t input_begin) {
  const int nothing = ::open("/dev/null", O_RDWR);
  if (input_begin < 0 || ::lseek(STDIN_FILENO, input_begin, SEEK_SET) < 0) {
    ::dup2(nothing, STDIN_FILENO);
  }
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::close(nothing);
}

} // namespace

void check_plan_for_lab(const invocation& given) {
  for (const flag* const which : {&flags::plan, &flags::plan_optional}) {
    const auto name = given.text(*which);
    if (!name) {
      continue;
    }
    const auto file = (std::filesystem::current_path() / *name).lexically_normal();
    for (const char* const own : {"/proc", "/dev", "/sys", "/run"}) {
      if (file.lexically_relative(own).native().rfind("..", 0) != 0) {
        throw error(error_kind::usage, fmt::format("--{} {} with --on", which->name, *name),
                    fmt::format("a virtual machine has its own {}", own),
                    "put the plan into another directory");
      }
    }
    if (which == &flags::plan) {
      (void)plans::read_plan(std::filesystem::path(*name));
    }
  }
}

std::string machine_file_for_runner(const machine& what) {
  // Stays open across exec: the runner reads it through its descriptor number.
  const int file = ::memfd_create("machine.json", 0);
  const int failed = file < 0 ? errno : write_all(file, report::json_text(machine_json(what)));
  if (failed != 0) {
    throw error(error_kind::system, fmt::format("the machine file of {} for the lab", what.name),
                "it could not be written", "check the limits of memory and of open files", failed);
  }
  return "/proc/self/fd/" + std::to_string(file);
}

std::vector<std::string> runner_options(const invocation& given) {
  std::vector<std::string> options;
  const auto pass = [&](const flag& which, const char* name) {
    if (const auto value = given.text(which)) {
      options.insert(options.end(), {name, std::string(*value)});
    }
  };
  (void)given.number(flags::on_timeout, 0,
                     1'000'000); // checked here, where errors name the option
  pass(flags::on_timeout, "--timeout");
  pass(flags::on_thp, "--thp");
  pass(flags::on_numa_balancing, "--numa-balancing");
  if (given.has(flags::on_overlay)) {
    options.emplace_back("--overlay");
  }
  if (given.has(flags::on_slurm)) {
    options.emplace_back("--slurm");
  }
  if (given.has(flags::quiet)) {
    options.emplace_back("--quiet");
  } else if (given.has(flags::verbose)) {
    options.emplace_back("--verbose");
  }
  return options;
}

std::vector<topology> hosts_of_on(const invocation& given, const paths& from) {
  constexpr std::string_view prefix = "lab:";
  const std::string_view where = given.text(flags::on).value_or("");
  if (!where.starts_with(prefix)) {
    throw error(error_kind::usage, fmt::format("--on {}", where), "it takes lab:MACHINE",
                "write for example --on lab:4x2; `nodewise lab list` lists the machines");
  }
  return for_option(flags::on, [&] { return read_lab_hosts(where.substr(prefix.size()), from); });
}

topology machine_of_on(const invocation& given, const paths& from) {
  std::vector<topology> hosts = hosts_of_on(given, from);
  if (hosts.size() > 1) {
    throw error(
        error_kind::usage,
        fmt::format("{} --on {}", given.verb->name, given.text(flags::on).value_or("")),
        "this needs one machine, and that is a cluster",
        "leave out all hosts but one; `nodewise run` and `nodewise survey` accept clusters");
  }
  return std::move(hosts.front());
}

std::vector<std::string> host_words(std::span<const topology> hosts) {
  std::vector<std::string> words;
  for (const topology& host : hosts) {
    words.insert(words.end(),
                 {words.empty() ? "--machine" : "--host", machine_file_for_runner(host.machine())});
  }
  return words;
}

std::vector<std::string> runner_words(const invocation& given, std::span<const topology> hosts) {
  return words_with_options(given, host_words(hosts), nullptr);
}

std::vector<std::string> runner_words(const invocation& given, const machine& what,
                                      const char* grace_seconds) {
  return words_with_options(given, {"--machine", machine_file_for_runner(what)}, grace_seconds);
}
std::vector<std::string> with_command(std::vector<std::string> runner, const paths& from,
                                      const std::vector<std::string>& inside) {
  runner.push_back(from.command());
  runner.insert(runner.end(), inside.begin(), inside.end());
  return runner;
}

std::string python_for_lab() {
  constexpr std::string_view prefix = "python3.";
  constexpr int oldest_minor = 11;
  const std::string system = "/usr/bin/python3";
  std::error_code unknown;
  const std::string name = std::filesystem::read_symlink(system, unknown).string();
  const std::size_t at = name.rfind(prefix);
  if (at == std::string_view::npos) {
    return "python3";
  }
  const auto minor = parse_number<int>(std::string_view(name).substr(at + prefix.size()));
  return minor.value_or(0) >= oldest_minor ? system : "python3";
}

void start_runner(const paths& from, std::vector<std::string> arguments) {
  const std::string python = python_for_lab();
  if (::access(from.lab_runner().c_str(), R_OK) != 0) {
    throw error(error_kind::system, "starting the lab", from.lab_runner() + " cannot be read",
                "install all parts of one build: bin, libexec and share", errno);
  }
  std::vector<std::string> command = {python, from.lab_runner()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int failed = sys::execute(command);
  throw error(error_kind::system, "starting the lab with " + python, "it could not be started",
              "install Python 3.11 or later: apt install python3", failed);
}

bool counted_run::lab_failed() const noexcept {
  const int code = end.exit_code();
  const bool of_runner = code >= exit_code::time_limit && code <= exit_code::not_found;
  // From the command inside, which rejected its arguments before any program started.
  const bool of_launcher = code >= exit_code::usage && code <= exit_code::refused;
  return counts.empty() && (of_runner || of_launcher);
}

traffic::counts counted_run::read() const {
  traffic::counts found = traffic::read_counts(counts);
  if (found.refused) {
    throw error(error_kind::input, "the traffic count",
                "the counter's own test failed: " + *found.refused,
                "run it again; `nodewise run --on-no-count` runs it without counting");
  }
  return found;
}

counted_run run_counted(const paths& from, std::vector<std::string> arguments,
                        std::optional<off_t> silent_from) {
  const inherited_file file;
  const auto separator = std::ranges::find(arguments, "--");
  arguments.insert(separator, {"--count", file.name(), "--count-when-told"});
  counted_run run;
  run.end = sys::run_child([&] {
    if (silent_from) {
      discard_output(*silent_from);
    }
    start_runner(from, std::move(arguments));
  });
  run.counts = file.read();
  return run;
}

nlohmann::ordered_json guest_settings(const invocation& given, const traffic::counts& of) {
  // The defaults are those of the runner: lab/nodewise_lab/cli.py.
  return {{"kernel", "unavailable"},
          {"page_bytes", of.page_bytes},
          {"numa_balancing", given.text(flags::on_numa_balancing).value_or("0")},
          {"thp", given.text(flags::on_thp).value_or("madvise")},
          {"thp_defrag", "unavailable"},
          {"virtual", "QEMU"}};
}

void check_traffic_output(const invocation& given) {
  const auto where = given.text(flags::on_counts);
  if (where && *where != to_standard_output) {
    check_file(flags::on_counts, *where);
  }
}

int report_traffic(const counted_run& run, const machine& on, const invocation& given) {
  if (run.lab_failed()) {
    return exit_code::ok; // the run ends with the runner's status, not this one
  }
  const auto where = given.text(flags::on_counts);
  try {
    const traffic::summary found = traffic::summarise(run.read());
    if (!given.has(flags::quiet)) {
      const report::style how = style_of(STDERR_FILENO, given);
      write_error(traffic_text(found, how,
                               predicted_text(predict_parts(found.all, found.judged, on), how)));
    }
    if (where) {
      const std::string text =
          report::json_text(traffic_json(found, on, guest_settings(given, found.all)));
      *where == to_standard_output ? write_out(text)
                                   : write_to_file(flags::on_counts, *where, text);
    }
  } catch (const error& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
    return where ? exit_code_of(e.kind()) : exit_code::ok;
  }
  return exit_code::ok;
}

} // namespace nodewise::cli
