// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "cli/exit_codes.hpp"
#include "cli/lab_runner.hpp"
#include "cli/machine_source.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "cli/topology_drawing.hpp"
#include "cli/verbs.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli::verbs {

namespace {

using nlohmann::ordered_json;

/// The one word that must follow the action.
const std::string& machine_word(const invocation& given) {
  if (given.operands.size() != 2) {
    const std::string action = "nodewise lab " + given.operands.front();
    throw error(error_kind::usage, action,
                given.operands.size() < 2 ? "the machine is missing" : "it takes one machine",
                "write " + action + " 4x2; `nodewise lab list` names the machines");
  }
  return given.operands[1];
}

topology named_machine(const invocation& given, const paths& from) {
  std::string_view name = machine_word(given);
  name.remove_prefix(name.starts_with("lab:") ? 4 : 0);
  return read_lab_machine(name, from);
}

ordered_json list_json(const paths& from) {
  ordered_json machines = ordered_json::array();
  for (const std::string& name : lab_machine_names(from)) {
    const topology read = read_lab_machine(name, from);
    machines.push_back({{"name", name},
                        {"nodes", read.machine().nodes.size()},
                        {"cpus", read.machine().cpus().size()},
                        {"title", read.machine().title}});
  }
  return {{"schema", "nodewise/lab-machines/1"},
          {"nodewise", NODEWISE_VERSION},
          {"machines", std::move(machines)}};
}

int list(const invocation& given, const paths& from) {
  if (given.has(flags::json) || given.has(flags::output)) {
    write_result(list_json(from), given);
    return exit_code::ok;
  }
  using report::align;
  report::table rows(
      {{"name"}, {"nodes", align::right}, {"cpus", align::right}, {"title", align::left, true}});
  for (const std::string& name : lab_machine_names(from)) {
    try {
      const topology read = read_lab_machine(name, from);
      rows.add({{name, report::tone::accent},
                std::to_string(read.machine().nodes.size()),
                std::to_string(read.machine().cpus().size()),
                read.machine().title});
    } catch (const error& e) { // one broken file does not hide the others
      rows.add({name, "?", "?", {e.asked() + ": " + e.answered(), report::tone::bad}});
    }
  }
  write_out(rows.to_string(style_of(STDOUT_FILENO, given)) +
            "\nAny NODESxCORES[xTHREADS] is a machine, too: lab:4x2, lab:2x8x2.\n");
  return exit_code::ok;
}

int describe(const invocation& given, const paths& from) {
  const topology read = named_machine(given, from);
  if (given.has(flags::json) || given.has(flags::output)) {
    write_result(machine_json(read.machine()), given);
    return exit_code::ok;
  }
  write_out(draw(read, style_of(STDOUT_FILENO, given)));
  return exit_code::ok;
}

[[noreturn]] void shell(const invocation& given, const paths& from) {
  const char* const own = std::getenv("SHELL");
  std::vector<std::string> command = {
      "run", "--machine", machine_file_for_runner(named_machine(given, from).machine())};
  const std::vector<std::string> options = runner_options(given);
  command.insert(command.end(), {"--timeout", "0"}); // the default; a later option overrides it
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--tty", "--", own != nullptr ? own : "/bin/sh"});
  start_runner(from, std::move(command));
}

[[noreturn]] void selftest(const invocation& given, const paths& from) {
  std::vector<std::string> command = {
      "selftest", "--machine", machine_file_for_runner(named_machine(given, from).machine())};
  if (given.has(flags::quiet)) {
    command.emplace_back("--quiet");
  } else if (given.has(flags::verbose)) {
    command.emplace_back("--verbose");
  }
  start_runner(from, std::move(command));
}

[[noreturn]] void cache(const invocation& given, const paths& from) {
  if (given.operands.size() < 2 || (given.operands[1] != "list" && given.operands[1] != "remove")) {
    throw error(
        error_kind::usage, "nodewise lab cache", "what to do with it is missing",
        "write nodewise lab cache list, nodewise lab cache remove KEY, or nodewise lab cache "
        "remove --all");
  }
  std::vector<std::string> command = given.operands;
  if (given.has(flags::json)) {
    command.emplace_back("--json");
  }
  if (given.has(flags::all)) {
    command.emplace_back("--all");
  }
  start_runner(from, std::move(command));
}

/// Refuses options of `check` elsewhere, so that a check that is not made does not seem passed.
void require_check(const invocation& given) {
  const auto refuse = [&](const flag* only) {
    if (given.has(*only)) {
      throw error(error_kind::usage,
                  option_name(*only) + " with `lab " + given.operands.front() + "`",
                  "only `lab check` takes it",
                  "write nodewise lab check " + option_name(*only) + " ... -- PROGRAM");
    }
  };
  for (const flag* const only :
       {&flags::on, &flags::min_local, &flags::max_imbalance, &flags::phase, &flags::object}) {
    refuse(only);
  }
  std::ranges::for_each(flags::run_placement, refuse);
  if (!given.program.empty()) {
    throw error(error_kind::usage, "nodewise lab " + given.operands.front(), "it starts no program",
                "write nodewise lab check --on lab:4x2 ... -- PROGRAM");
  }
}

} // namespace

int lab(const invocation& given) {
  const paths from = paths::of_this_process();
  const std::string& action = given.operands.front();
  if (action == "check") {
    return lab_check(given);
  }
  require_check(given);
  if (action == "list") {
    return list(given, from);
  }
  if (action == "describe") {
    return describe(given, from);
  }
  if (action == "shell") {
    shell(given, from);
  }
  if (action == "selftest") {
    selftest(given, from);
  }
  cache(given, from);
}

} // namespace nodewise::cli::verbs
