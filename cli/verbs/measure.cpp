// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <optional>
#include <string>

#include <unistd.h>

#include "cli/exit_codes.hpp"
#include "cli/measure_flags.hpp"
#include "cli/measure_keep.hpp"
#include "cli/measure_options.hpp"
#include "cli/measure_view.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "measure/measurement_json.hpp"
#include "measure/session.hpp"
#include "place/kernel_weights.hpp"
#include "report/envelope.hpp"
#include "report/error_text.hpp"
#include "report/progress.hpp"
#include "sys/signals.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli::verbs {

namespace {

using measure::experiment;
using measure::measurement;

/// A measurement and the machine that it is of, with what this process was allowed of it.
struct measured {
  measurement what;
  topology on;
};

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  const std::size_t length =
      ::gmtime_r(&now, &parts) == nullptr
          ? 0
          : std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

measured read_kept(const std::string& file) {
  const nlohmann::ordered_json document = read_json_file(file);
  const json_field field(document, "the measurement " + file);
  measurement what = measure::read_measurement(field);
  return {std::move(what), topology_from_json(field)};
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
  if (!given.has(flags::quiet)) {
    for (const std::string& each : plan.warnings) {
      write_error(report::warning_text(each, style_of(STDERR_FILENO, given)));
    }
  }
  const sys::ending_signals ending;
  std::string set = std::move(plan.set);
  std::optional<report::progress> shown;
  if (!given.has(flags::quiet)) {
    shown.emplace("measuring", progress_steps);
  }
  measurement found =
      measure::measure_points(on, std::move(plan.points), with, {.time = plan.time_per_point},
                              [&](double share, const measure::point&) {
                                if (shown) {
                                  shown->done(static_cast<std::uint64_t>(share * progress_steps));
                                }
                              });
  found.set = std::move(set);
  found.host = nodewise::measured::host_name();
  found.date = now_in_utc();
  return {std::move(found), on};
}

int tell_weights(const machine& on, const invocation& given) {
  const auto weights = kernel_weights::by_bandwidth(on);
  if (given.text(flags::weights) == "apply") {
    kernel_weights::apply_weights(sys::real_kernel(), weights);
  }
  if (!given.has(flags::quiet)) {
    write_out(kernel_weights::shell_lines(weights));
  }
  return exit_code::ok;
}

int exit_code_for(const measurement& what, bool strict) {
  if (!what.is_complete()) {
    return exit_code::signal_base + SIGINT;
  }
  const bool wrong = std::ranges::any_of(what.records, [](const measure::record& each) {
    return each.found.wrong || !each.is_known();
  });
  const bool computed_wrong = std::ranges::any_of(
      what.records, [](const measure::record& each) { return each.found.wrong; });
  return computed_wrong || (strict && wrong) ? exit_code::check_failed : exit_code::ok;
}

void require_operands(const invocation& given) {
  const std::size_t files = given.operands.size();
  const bool compares = given.has(flags::compare);
  if (compares ? files == 0 || files > 2 : files > 1) {
    throw error(error_kind::usage, compares ? option_name(flags::compare) : "nodewise measure",
                std::to_string(files) + " files are named",
                compares ? "name the one to compare with, or two" : "name one that it has written");
  }
}

} // namespace

int measure(const invocation& given) {
  require_operands(given);
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
  if (given.has(flags::json) || given.has(flags::output)) {
    write_result(result, given);
  }
  if (given.has(flags::weights)) {
    return tell_weights(
        measure::with_parameters(now.on.machine(), measure::parameters_of(now.what)), given);
  }
  const bool speaks = !given.has(flags::json) && !given.has(flags::quiet);
  const report::style how = style_of(STDOUT_FILENO, given);
  if (speaks) {
    write_out(compares ? comparison_text(before->what, now.what, how)
                       : measurement_text(now.what, how));
  }
  if (measures && !given.has(flags::no_keep)) {
    const std::string kept = keep(now.what, now.on, result, given);
    if (speaks) {
      write_out(report::paint(how, report::tone::faint, kept));
    }
  }
  return exit_code_for(now.what, given.has(flags::strict));
}

} // namespace nodewise::cli::verbs
