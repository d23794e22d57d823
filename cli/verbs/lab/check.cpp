// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/frame/exit_codes.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/lab/count.hpp"
#include "cli/lab/runner.hpp"
#include "cli/start/flags.hpp"
#include "cli/traffic/view.hpp"
#include "cli/verbs/lab/traffic_check.hpp"
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
    refuse("the program is missing", "write it after --");
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
void print_verdict(const traffic_verdict& verdict, const traffic_limits& asked,
                   const invocation& given) {
  const bool json_out = given.has(flags::json) && !given.has(flags::output);
  const int stream = json_out ? STDERR_FILENO : STDOUT_FILENO;
  if (verdict.passed() && given.has(flags::quiet)) {
    return;
  }
  const report::style how = style_of(stream, given);
  const auto look = verdict.passed() ? report::tone::good : report::tone::bad;
  std::string text =
      fmt::format("{}: {}\n", check_command, report::paint(how, look, verdict.text(asked)));
  if (!verdict.passed() && asked.max_imbalance) {
    text += traffic_loads_text(verdict.offending, how);
  }
  if (!verdict.passed() && asked.min_local) {
    text +=
        traffic_objects_text(verdict.offending, how) + traffic_lines_text(verdict.offending, how);
  }
  json_out ? write_error(text) : write_out(text);
}

/// A failed command is not checked, whatever was counted before.
[[noreturn]] void end_unchecked(const counted_run& run, const invocation& given) {
  if (!run.lab_failed()) {
    write_error(report::error_text(
        error(error_kind::input, fmt::format("{}: {}", check_command, given.program.front()),
              fmt::format("it failed with status {} and was not checked", run.end.exit_code()),
              "the program must end with status 0"),
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
  const counted_run run = run_counted(
      from, with_command(runner_words(given, machine.machine()), from, run_inside(given)));
  if (run.end.wait_status != 0) {
    end_unchecked(run, given);
  }
  const traffic::summary found = traffic::summarise(run.read());
  const traffic_verdict verdict = judge_traffic(found, asked);
  if (asks_for_json(given)) {
    auto result = traffic_json(found, machine.machine(), guest_settings(given, found.all));
    result["check"] = verdict.json(asked);
    write_result(result, given);
  }
  print_verdict(verdict, asked, given);
  return verdict.passed() ? exit_code::ok : exit_code::check_failed;
}

} // namespace nodewise::cli::verbs
