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
#include "cli/frame/terminal.hpp"
#include "cli/machine/cluster.hpp"
#include "cli/start/flags.hpp"
#include "plan/plan_json.hpp"
#include "report/envelope.hpp"
#include "sys/programs.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

std::uint64_t disk_bytes(std::string_view size) {
  const auto bytes = parse_size(size);
  if (!bytes || *bytes < (std::uint64_t{32} << 20) || *bytes > (std::uint64_t{1} << 40)) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::on_disk), size),
                "it is not a size from 32M to 1T", "write for example --on-disk 256M");
  }
  return *bytes;
}

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
  pass(flags::on_caps, "--caps");
  if (const auto size = given.text(flags::on_disk)) {
    options.insert(options.end(), {"--disk", fmt::format("{}", disk_bytes(*size))});
  }
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

std::vector<std::string> runner_words(const invocation& given, std::span<const topology> hosts,
                                      const char* grace_seconds) {
  return words_with_options(given, host_words(hosts), grace_seconds);
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

} // namespace nodewise::cli
