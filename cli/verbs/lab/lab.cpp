// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "cli/frame/result.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/lab/runner.hpp"
#include "cli/machine/cluster.hpp"
#include "cli/machine/drawing.hpp"
#include "cli/machine/source.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/lab/flags.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli::verbs {

namespace {

using nlohmann::ordered_json;

/// The one word after the action, which names a machine or a cluster.
std::string_view machine_word(const invocation& given) {
  if (given.operands.size() != 2) {
    const std::string action = "nodewise lab " + given.operands.front();
    throw error(error_kind::usage, action,
                given.operands.size() < 2 ? "the machine is missing" : "it takes one machine",
                fmt::format("write {} 4x2; `nodewise lab list` lists the machines", action));
  }
  std::string_view name = given.operands[1];
  name.remove_prefix(name.starts_with("lab:") ? 4 : 0);
  return name;
}

topology named_machine(const invocation& given, const paths& from) {
  return read_lab_machine(machine_word(given), from);
}

ordered_json list_json(const paths& from) {
  const auto machine_entry = [&](const std::string& name) -> ordered_json {
    const topology read = read_lab_machine(name, from);
    return {{"name", name},
            {"nodes", read.machine().nodes.size()},
            {"cpus", read.machine().cpus().size()},
            {"title", read.machine().title}};
  };
  return {{"schema", "nodewise/lab-machines/1"},
          {"nodewise", NODEWISE_VERSION},
          {"machines", report::json_list(lab_machine_names(from), machine_entry)}};
}

std::string list_text(const paths& from, const report::style& how) {
  report::table rows(
      {"name", report::right("nodes"), report::right("cpus"), report::breaking("title")});
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
  return rows.to_string(how) +
         "\nNODESxCORES[xTHREADS] names a machine, too: lab:4x2, lab:2x8x2.\n";
}

int list(const invocation& given, const paths& from) {
  show_result<json_maker>(
      given, json_only, [&] { return list_json(from); },
      [&](const report::style& how) { return list_text(from, how); });
  return exit_code::ok;
}

int describe(const invocation& given, const paths& from) {
  const topology read = named_machine(given, from);
  show_result<json_maker>(
      given, json_only, [&] { return machine_json(read.machine()); },
      [&](const report::style& how) { return draw(read, how); });
  return exit_code::ok;
}

[[noreturn]] int shell(const invocation& given, const paths& from) {
  const char* const own = std::getenv("SHELL");
  std::vector<std::string> command = {"run"};
  const std::vector<topology> hosts = read_lab_hosts(machine_word(given), from);
  const std::vector<std::string> no_limit = {"--timeout", "0"}; // a later option overrides it
  for (const auto& part : {host_words(hosts), no_limit, runner_options(given)}) {
    command.insert(command.end(), part.begin(), part.end());
  }
  command.insert(command.end(), {"--tty", "--", own != nullptr ? own : "/bin/sh"});
  start_runner(from, std::move(command));
}

[[noreturn]] int selftest(const invocation& given, const paths& from) {
  std::vector<std::string> command = {
      "selftest", "--machine", machine_file_for_runner(named_machine(given, from).machine())};
  if (given.has(flags::quiet)) {
    command.emplace_back("--quiet");
  } else if (given.has(flags::verbose)) {
    command.emplace_back("--verbose");
  }
  start_runner(from, std::move(command));
}

[[noreturn]] int cache(const invocation& given, const paths& from) {
  if (given.operands.size() < 2 || (given.operands[1] != "list" && given.operands[1] != "remove")) {
    throw error(
        error_kind::usage, "nodewise lab cache", "it takes list or remove",
        "write nodewise lab cache list, nodewise lab cache remove KEY, or nodewise lab cache "
        "remove --all");
  }
  const bool has_key = given.operands.size() > 2;
  if (given.operands[1] == "remove" && has_key == given.has(flags::all)) {
    throw error(error_kind::usage, "nodewise lab cache remove",
                has_key ? "it takes a key or --all, not both" : "the key is missing",
                "give a key that nodewise lab cache list prints, or --all");
  }
  std::vector<std::string> command = given.operands;
  if (const flag* const form = given.selected_form()) { // the runner may refuse it
    command.push_back(option_name(*form));
  }
  if (given.has(flags::all)) {
    command.emplace_back("--all");
  }
  start_runner(from, std::move(command));
}

/// Refuses options of `check` elsewhere, so that a check that is not made does not seem passed.
void refuse_check_options(const invocation& given) {
  constexpr auto of_check = join(std::array{&flags::on, &flags::min_local, &flags::max_imbalance,
                                            &flags::phase, &flags::object, &flags::sarif},
                                 flags::run_placement);
  for (const flag* const only : of_check) {
    if (given.has(*only)) {
      throw error(error_kind::usage,
                  fmt::format("--{} with `lab {}`", only->name, given.operands.front()),
                  "only `lab check` accepts it",
                  fmt::format("write nodewise lab check --{} ... -- PROGRAM", only->name));
    }
  }
  if (!given.program.empty()) {
    throw error(error_kind::usage, "nodewise lab " + given.operands.front(), "it starts no program",
                "write nodewise lab check --on lab:4x2 ... -- PROGRAM");
  }
}

struct lab_action {
  std::string_view name;
  int (*does)(const invocation&, const paths&);
};
/// The parser has refused other names.
constexpr std::array lab_action_table = {
    lab_action{"list", list},         lab_action{"describe", describe}, lab_action{"shell", shell},
    lab_action{"selftest", selftest}, lab_action{"cache", cache},
};

} // namespace

int lab(const invocation& given) {
  const std::string& action = given.operands.front();
  if (action == "check") {
    return lab_check(given);
  }
  refuse_check_options(given);
  return std::ranges::find(lab_action_table, action, &lab_action::name)
      ->does(given, paths::of_this_process());
}

} // namespace nodewise::cli::verbs
