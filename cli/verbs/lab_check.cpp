// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/exit_codes.hpp"
#include "cli/lab_count.hpp"
#include "cli/lab_runner.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "cli/traffic_check.hpp"
#include "cli/traffic_view.hpp"
#include "cli/verbs.hpp"
#include "report/error_text.hpp"
#include "traffic/summary.hpp"

namespace nodewise::cli::verbs {

namespace {

constexpr std::string_view check_command = "nodewise lab check";

void require_complete(const invocation& given) {
  const auto refuse = [](const char* what, const char* hint) {
    throw error(error_kind::usage, std::string(check_command), what, hint);
  };
  if (given.operands.size() > 1) {
    refuse("it takes options and a program", "write -- before the program");
  }
  if (!given.has(flags::on)) {
    refuse("the machine is missing", "add for example --on lab:4x2");
  }
  if (given.program.empty()) {
    refuse("the program is missing", "write it behind --");
  }
}

/// The command inside is `run`, which places the program and loads the agent. The counter needs the
/// agent to know the arrays. If nothing is placed, there is nothing to warn about.
std::vector<std::string> run_inside(const invocation& given) {
  invocation inside;
  inside.verb = find_verb("run");
  for (const invocation::option& each : given.options) {
    if (std::ranges::find(flags::run_placement, each.what) != flags::run_placement.end()) {
      inside.options.push_back(each);
    }
  }
  if (inside.options.empty() || given.has(flags::quiet)) {
    inside.options.push_back({&flags::quiet, ""});
  }
  inside.program = given.program;
  return inside.arguments_without({});
}

/// Prints the verdict on standard output, or on standard error if JSON goes to standard output.
void tell(const traffic_verdict& verdict, const traffic_limits& asked, const invocation& given) {
  const bool json_out = given.has(flags::json) && !given.has(flags::output);
  const int stream = json_out ? STDERR_FILENO : STDOUT_FILENO;
  if (verdict.passed() && given.has(flags::quiet)) {
    return;
  }
  const report::style how = style_of(stream, given);
  std::string text = std::string(check_command) + ": " +
                     report::paint(how, verdict.passed() ? report::tone::good : report::tone::bad,
                                   verdict.text(asked)) +
                     "\n";
  if (!verdict.passed() && asked.max_imbalance) {
    text += traffic_loads_text(verdict.offending, how);
  }
  if (!verdict.passed() && asked.min_local) {
    text +=
        traffic_objects_text(verdict.offending, how) + traffic_lines_text(verdict.offending, how);
  }
  if (json_out) {
    write_error(text);
  } else {
    write_out(text);
  }
}

/// A failed command is not judged, whatever was counted before.
[[noreturn]] void end_unjudged(const counted_run& run, const invocation& given) {
  if (!run.lab_failed()) {
    write_error(report::error_text(
        error(error_kind::input, std::string(check_command) + ": " + given.program.front(),
              "it failed with status " + std::to_string(run.end.exit_code()) +
                  ", and was not judged",
              "let it end with status 0"),
        style_of(STDERR_FILENO, given)));
  }
  launch::end_as(run.end);
}

} // namespace

int lab_check(const invocation& given) {
  require_complete(given);
  const traffic_limits asked = read_traffic_limits(given);
  const paths from = paths::of_this_process();
  const topology machine = machine_of_on(given, from);
  check_output(given);
  check_plan_for_lab(given);
  std::vector<std::string> command = runner_words(given, machine.machine());
  command.push_back(from.command());
  const std::vector<std::string> inside = run_inside(given);
  command.insert(command.end(), inside.begin(), inside.end());
  const counted_run run = run_counted(from, std::move(command));
  if (run.end.wait_status != 0) {
    end_unjudged(run, given);
  }
  const traffic::summary found = traffic::summarise(run.read());
  const traffic_verdict verdict = judge_traffic(found, asked);
  if (given.has(flags::json) || given.has(flags::output)) {
    auto result = traffic_json(found, machine.machine(), guest_settings(given, found.all));
    result["check"] = verdict.json(asked);
    write_result(result, given);
  }
  tell(verdict, asked, given);
  return verdict.passed() ? exit_code::ok : exit_code::check_failed;
}

} // namespace nodewise::cli::verbs
