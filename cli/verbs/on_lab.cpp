// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>

#include <unistd.h>

#include "cli/lab_runner.hpp"
#include "cli/machine_source.hpp"
#include "cli/verbs.hpp"

namespace nodewise::cli::verbs {

namespace {

constexpr std::array<const flag*, 5> outside = {&flags::on, &flags::on_timeout, &flags::on_thp,
                                                &flags::on_numa_balancing, &flags::on_overlay};

/// A result file is written inside the machine; only the working directory is shared with it.
void require_output_here(const invocation& given) {
  const auto name = given.text(flags::output);
  if (!name) {
    return;
  }
  const auto here = std::filesystem::current_path();
  const auto file = (here / *name).lexically_normal().lexically_relative(here);
  if (file.empty() || *file.begin() == "..") {
    throw error(error_kind::usage, "--output " + std::string(*name) + " with --on",
                "only files in the working directory come back from a virtual machine",
                "name a file in the working directory");
  }
}

} // namespace

int on_lab(const invocation& given) {
  constexpr std::string_view prefix = "lab:";
  const std::string_view where = given.text(flags::on).value_or("");
  if (!where.starts_with(prefix)) {
    throw error(error_kind::usage, "--on " + std::string(where), "only lab:MACHINE can follow",
                "write for example --on lab:4x2; `nodewise lab list` names the machines");
  }
  require_output_here(given);
  const paths from = paths::of_this_process();
  const topology machine =
      for_option(flags::on, [&] { return read_lab_machine(where.substr(prefix.size()), from); });

  std::vector<std::string> command = {"run", "--machine",
                                      machine_file_for_runner(machine.machine())};
  const std::vector<std::string> options = runner_options(given);
  command.insert(command.end(), options.begin(), options.end());
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
    command.emplace_back("--tty");
  }
  command.insert(command.end(), {"--", from.command()});
  const std::vector<std::string> inside = given.arguments_without(outside);
  command.insert(command.end(), inside.begin(), inside.end());
  start_runner(from, std::move(command));
}

} // namespace nodewise::cli::verbs
