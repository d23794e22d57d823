// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "cli/verbs/measure/keep.hpp"
#include "cli/verbs/measure/options.hpp"
#include "cli/verbs/measure/view.hpp"
#include "report/progress.hpp"
#include "sys/signals.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli::verbs {

namespace {

using measure::experiment;
using measure::measurement;

/// A measurement, its machine, and which part of it this process was allowed to use.
struct measured {
  measurement what;
  topology on;
  std::vector<std::string> doubts = {}; ///< known before measuring
};

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  const bool is_known = ::gmtime_r(&now, &parts) != nullptr;
  return {text.data(),
          is_known ? std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) : 0};
}

measured read_kept(const std::string& file) {
  const nlohmann::ordered_json document = read_json_file(file, largest_machine_file);
  const json_field field(document, "the measurement " + file);
  measurement what = measure::read_measurement(field);
  return {std::move(what), topology_from_json(field)};
}

/// The texts come from an untrusted file: escapes control sequences for the terminal.
measurement with_printable_texts(measurement of) {
  for (std::string* const text : {&of.set, &of.host, &of.date, &of.instruction_set}) {
    *text = printable(*text);
  }
  for (std::string& each : of.workgroups) {
    each = printable(each);
  }
  for (measure::record& each : of.records) {
    for (std::string* const text : {&each.label, &each.kernel, &each.found.unavailable}) {
      *text = printable(*text);
    }
  }
  return of;
}

constexpr std::uint64_t progress_steps = 1000;

measured measure_now(const invocation& given) {
  sys::kernel& kernel = sys::real_kernel();
  const topology on = topology::system();
  measure_plan plan = plan_of(given, on, kernel);
  const std::size_t several = on.memory_nodes().size();
  const measure::bench with{.kernel = &kernel, .several_memories = several > 1, .stopped = [] {
                              return sys::ending_signals::came();
                            }};
  const sys::ending_signals ending;
  std::optional<report::progress> shown;
  if (!given.has(flags::quiet)) {
    for (const std::string& each : plan.warnings) {
      write_error(report::warning_text(each, style_of(STDERR_FILENO, given)));
    }
    shown.emplace("measuring", progress_steps);
  }
  std::string set = std::move(plan.set);
  measurement found =
      measure::measure_points(on, std::move(plan.points), with, {.time = plan.time_per_point},
                              [&](double share, const measure::point&) {
                                if (shown) {
                                  shown->done(static_cast<std::uint64_t>(share * progress_steps));
                                }
                              });
  found.set = std::move(set);
  for (const std::string_view each : given.texts(flags::workgroup)) {
    found.workgroups.emplace_back(each);
  }
  found.host = nodewise::measured::host_name();
  found.date = now_in_utc();
  return {std::move(found), on, std::move(plan.doubts)};
}

int exit_code_for(const measurement& what, bool measured_now, bool strict) {
  if (measured_now && !what.is_complete()) {
    return exit_code::signal_base + SIGINT;
  }
  const bool failed = std::ranges::any_of(what.records, [&](const measure::record& each) {
    return each.found.wrong || (strict && !each.is_known());
  });
  return failed ? exit_code::check_failed : exit_code::ok;
}

/// Comes after all else, so that nothing is lost if weights are refused.
int end_with_weights(const measured& now, const std::string& file, const invocation& given,
                     int code) {
  try {
    const std::string lines = weight_lines(now.what, now.on, file, given);
    const bool form_is_printed = given.selected_form() != nullptr && !given.has(flags::output);
    if (!given.has(flags::quiet) && !form_is_printed) {
      write_out(lines);
    }
  } catch (const error& e) {
    if (code == exit_code::ok) {
      throw;
    }
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
  }
  return code;
}

} // namespace

int measure(const invocation& given) {
  require_sense(given);
  check_output(given);
  const bool compares = given.has(flags::compare);
  const bool measures = given.operands.size() == (compares ? 1U : 0U);
  std::optional<measured> before;
  if (compares) {
    before = read_kept(given.operands.front());
  }
  const measured now = measures ? measure_now(given) : read_kept(given.operands.back());
  const auto result =
      measurement_json(now.what, now.on.machine(), settings_json(sys::real_kernel()));
  // With --weights standard output is for a shell, so text goes to standard error.
  const bool for_shell = given.has(flags::weights);
  const bool speaks = asks_for_text(given) && (measures || !for_shell);
  const report::style how = style_of(for_shell ? STDERR_FILENO : STDOUT_FILENO, given);
  const auto say = [&](const std::string& text) {
    if (speaks) {
      for_shell ? write_error(text) : write_out(text);
    }
  };
  const measurement shown = with_printable_texts(now.what);
  say(compares ? comparison_text(with_printable_texts(before->what), shown, how)
               : measurement_text(shown, how));
  if (measures && !given.has(flags::no_keep)) {
    say(report::paint(how, report::tone::faint, keep(now.what, now.on, now.doubts, result, given)));
  }
  // Written last, since the disk may be full.
  write_form(given, measure_forms, reported_measurement{now.what, result});
  say(report_line(given, how));
  const int code = exit_code_for(now.what, measures, given.has(flags::strict));
  return for_shell ? end_with_weights(now, measures ? "" : given.operands.back(), given, code)
                   : code;
}

} // namespace nodewise::cli::verbs
