// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/start/flags.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/tune/flags.hpp"
#include "cli/verbs/tune/lab.hpp"
#include "cli/verbs/tune/profiled_plan.hpp"
#include "cli/verbs/tune/setting_line.hpp"
#include "launch/executable.hpp"
#include "launch/numa_balancing.hpp"
#include "model/costs.hpp"
#include "plan/plan_json.hpp"
#include "symbols/module.hpp"
#include "sys/kernel.hpp"
#include "topology/json_field.hpp"
#include "topology/machine_json.hpp"
#include "tune/candidates.hpp"

namespace nodewise::cli {

namespace {

/// "3" or "3%" as 0.03.
double percent(const invocation& given, const flag& which, double standard) {
  const auto text = given.text(which);
  if (!text) {
    return standard;
  }
  const std::string_view digits = text->substr(0, text->find('%'));
  const auto value = parse_real(digits);
  if (!value || !(*value > 0 && *value <= 50) || text->size() > digits.size() + 1) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(which), *text),
                "it is not a percentage above 0 and up to 50", "write for example 3");
  }
  return *value / 100;
}

std::size_t threads_of_program() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 0 : parse_number<std::size_t>(text).value_or(0);
}

/// Those of --between.
std::vector<tune::setting> two_settings(const std::vector<std::string_view>& texts) {
  if (texts.size() != 2) {
    throw error(error_kind::usage, option_name(flags::between),
                fmt::format("two settings are needed, not {}", texts.size()),
                "give it twice, once for each setting");
  }
  return for_option(flags::between, [&] {
    std::vector<tune::setting> two = {tune::read_setting(texts[0]), tune::read_setting(texts[1])};
    if (two[0] == two[1]) {
      throw error(error_kind::usage, tune::text(two[0]), "both settings are the same",
                  "give two different ones");
    }
    return two;
  });
}

/// Makes the plan of --profiled-plan. Returns the text of its setting, or adds to the remarks why
/// it is not tried.
std::vector<std::string> profiled_setting(const invocation& given,
                                          std::vector<std::string>& remarks) {
  const auto file = given.text(flags::profiled_plan);
  if (!file) {
    return {};
  }
  if (tune::has_run_mark(given.program)) {
    throw error(error_kind::usage, option_name(flags::profiled_plan) + " with {run}",
                "tune does not profile programs under a launcher",
                "write a plan by nodewise profile in each rank, and try it: --plan FILE");
  }
  if (file == given.text(flags::write_plan)) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::profiled_plan), *file),
                "--write-plan names the same file", "give two different files");
  }
  if (!given.has(flags::dry_run)) {
    const report::style how = style_of(STDERR_FILENO, given);
    if (how.terminal && !given.has(flags::quiet)) {
      write_error("Profiling one run of the program for its plan.\n");
    }
    std::string why = make_profiled_plan(std::string(*file), given.program, words_of_on(given));
    if (!why.empty()) {
      remarks.push_back(std::move(why));
      return {};
    }
  }
  return {"--plan " + shell_word(*file)};
}

std::vector<tune::setting> settings_of(const invocation& given, const topology& here,
                                       std::vector<std::string>& remarks) {
  if (const auto file = given.text(flags::candidates)) {
    const std::string name(*file);
    return tune::read_candidates(
        read_whole(name, fmt::format("{} {}", option_name(flags::candidates), name),
                   largest_result_file),
        name);
  }
  if (const auto two = given.texts(flags::between); !two.empty()) {
    return two_settings(two);
  }
  tune::candidate_request request;
  request.ranks = tune::has_run_mark(given.program);
  if (const auto plan = given.text(flags::plan)) {
    (void)plans::read_plan(std::string(*plan));
    request.tries.push_back("--plan " + shell_word(*plan));
  }
  if (const auto over = given.text(flags::over)) {
    request.over = for_option(flags::over, [&] { return tune::read_axes(*over); });
  }
  for (const std::string_view text : given.texts(flags::attempt)) {
    request.tries.emplace_back(text);
  }
  request.threads = threads_of_program();
  if (std::ranges::find(request.over, tune::axis::balancing) != request.over.end()) {
    if (given.has(flags::on)) {
      throw error(error_kind::usage, "--over balancing with --on",
                  "a virtual machine has its own NUMA balancing",
                  "leave this axis out; --on-numa-balancing sets it for all runs");
    }
    request.numa_balancing =
        launch::changeable_numa_balancing("--over balancing", sys::real_kernel());
  }
  if (given.has(flags::on)) {
    if (!given.has(flags::over)) { // the figure has no computing, which threads would share
      request.over = {tune::axis::bind, tune::axis::memory};
    }
  } else { // counted lines do not depend on them
    request.huge_pages = sys::read_huge_page_mode(sys::real_kernel());
  }
  // Last, because it runs the program.
  const std::vector<std::string> profiled = profiled_setting(given, remarks);
  const auto after_plan = request.tries.begin() + (given.has(flags::plan) ? 1 : 0);
  request.tries.insert(after_plan, profiled.begin(), profiled.end());
  return for_option(flags::attempt, [&] { return tune::candidates(here, request); });
}

/// A setting says where threads and memory go, not how the result is shown or on which machine.
void check_groups(const invocation& given) {
  for (const invocation::option& each : given.options) {
    if (each.what->group != group::binding && each.what->group != group::memory) {
      throw error(error_kind::usage, option_name(*each.what),
                  "it is no option for threads or memory", "leave it out of the setting");
    }
  }
}

/// Parses each setting as `run` does: an error must not come in the middle of a race.
void check_settings(const std::vector<tune::setting>& all) {
  for (const tune::setting& each : all) {
    if (each.options.empty()) {
      continue; // the program as it is
    }
    try {
      const invocation read = run_line_of(each);
      check_groups(read);
      (void)read_run_options(read);
    } catch (const error& e) {
      throw error(error_kind::usage, fmt::format("the setting {}: {}", tune::text(each), e.asked()),
                  e.answered(), e.hint());
    }
  }
}

/// What distinguishes the program's file from another build of it.
std::string identity_of(const std::string& program) {
  namespace fs = std::filesystem;
  const std::string file = launch::find_executable(program, std::getenv("PATH"));
  std::error_code failed;
  const auto bytes = fs::file_size(file, failed);
  if (failed) {
    return "null";
  }
  nlohmann::json made = {{"file", fs::absolute(file).string()}, {"bytes", bytes}};
  if (const std::string id = symbols::build_id(file); !id.empty()) {
    made["build_id"] = id;
  } else {
    made["changed_ns"] =
        std::chrono::file_clock::to_sys(fs::last_write_time(file, failed)).time_since_epoch() /
        std::chrono::nanoseconds(1);
  }
  return made.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Throws `error` (usage) for options that work only in a virtual machine, or only outside.
void check_places(const invocation& given) {
  if (given.has(flags::phase) && !given.has(flags::on)) {
    throw error(error_kind::usage, option_name(flags::phase),
                "the phases of a run are known only in a virtual machine",
                "add --on lab:MACHINE, or mark the part and name it: --region NAME");
  }
  if (given.has(flags::on) && tune::has_run_mark(given.program)) {
    throw error(error_kind::usage, "{run} with --on",
                "a launcher in a virtual machine gets no settings",
                "leave {run} out, or tune without --on");
  }
}

run_rules rules_of(const invocation& given) {
  const auto text = [&](const flag& which) { return std::string(given.text(which).value_or("")); };
  run_rules made;
  if (const auto limit = given.time(flags::run_timeout, std::chrono::milliseconds(1))) {
    made.most_seconds = std::chrono::duration<double>(*limit).count();
  }
  made.same_output = given.has(flags::same_output);
  made.check = text(flags::check_command);
  made.prepare = text(flags::prepare);
  made.cleanup = text(flags::cleanup);
  return made;
}

/// The figure that decides.
tune::figure_source figure_of(const invocation& given) {
  const auto text = [&](const flag& which) {
    const auto found = given.text(which);
    return found ? std::optional(std::string(*found)) : std::nullopt;
  };
  const std::vector<std::string_view> figures = given.texts(flags::figure);
  tune::figure_source made{figures.empty() ? std::nullopt
                                           : std::optional(std::string(figures.front())),
                           text(flags::figure_file), given.has(flags::higher)};
  if (made.higher_is_better && !made.pattern && !made.file) {
    throw error(error_kind::usage, option_name(flags::higher), "a higher wall time is not better",
                "name the figure that the program prints: --figure 'GFlop/s: ([0-9.]+)'");
  }
  if (given.has(flags::on)) {
    made.modelled = text(flags::region).value_or(text(flags::phase).value_or("use"));
  } else {
    made.marked = text(flags::region);
  }
  for_option(flags::figure, [&] { tune::check(made); });
  return made;
}

/// Those that are shown and decide nothing.
std::vector<std::string> further_figures(const invocation& given) {
  std::vector<std::string> made;
  const std::vector<std::string_view> figures = given.texts(flags::figure);
  for (std::size_t i = 1; i < figures.size(); ++i) {
    made.emplace_back(figures[i]);
    for_option(flags::figure, [&] { tune::check({.pattern = made.back(), .file = {}}); });
  }
  return made;
}

std::optional<traffic_file> traffic_of(const invocation& given, const topology& here) {
  const auto file = given.text(flags::traffic);
  if (!file) {
    return std::nullopt;
  }
  const std::string name(*file);
  const nlohmann::ordered_json document = read_json_file(name);
  traffic_file made = traffic_from_json(json_field(document, "the traffic file " + name));
  // Throws if it is of a machine that has more nodes or cores than this one.
  (void)price_of_counts(made.all, {.when = made.judged}, model::costs_of(here.machine()));
  return made;
}

/// Without what depends on the candidates.
tune::race_options options_of(const invocation& given) {
  tune::race_options made;
  made.equal = percent(given, flags::equal, made.equal);
  if (given.has(flags::on)) {
    constexpr double counts_differ = 0.12; // three times the spread of most programs
    made.most_spread = counts_differ;
    made.warm_up_counts = true; // each virtual machine starts anew
    made.most_runs = 8;         // they take long, and their counts differ little
  }
  made.most_runs = static_cast<std::size_t>(
      given.number(flags::most_runs, 6, 32).value_or(static_cast<long long>(made.most_runs)));
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  made.seed = static_cast<std::uint64_t>(given.number(flags::seed).value_or(now));
  return made;
}

/// A third of the runs that trying everything as often would take, if that suffices to run each
/// setting once and to confirm the best; otherwise 0, no limit.
std::size_t most_runs_in_lab(const tune::race_options& of) {
  constexpr std::size_t to_confirm = 8;
  const std::size_t third = of.candidates * of.most_runs / 3;
  return third >= of.candidates + to_confirm ? third : 0;
}

} // namespace

const std::string& program_in(const std::vector<std::string>& command) {
  const auto mark = std::ranges::find(command, tune::run_mark);
  return mark == command.end() || mark + 1 == command.end() ? command.front() : *(mark + 1);
}

tune_request read_tune_options(const invocation& given, const topology& here) {
  check_places(given);
  tune_request made;
  made.rules = rules_of(given);
  made.within = percent(given, flags::within, made.within);
  made.on = words_of_on(given);
  made.also = further_figures(given);
  made.traffic = traffic_of(given, here);
  tune::log_header& race = made.race;
  race.options = options_of(given);
  race.command = given.program;
  race.figure = figure_of(given);
  race.candidates = settings_of(given, here, made.remarks); // last: it may profile the program
  check_settings(race.candidates);
  race.options.candidates = race.candidates.size();
  for (std::size_t i = 0; i < race.candidates.size(); ++i) {
    if (tune::pins_threads(race.candidates[i])) {
      race.options.pinned.push_back(i);
    }
  }
  race.options.higher_is_better = race.figure.higher_is_better;
  if (!made.on.empty()) {
    race.options.most_runs_of_all = most_runs_in_lab(race.options);
  }
  const std::size_t all = here.machine().cores.size();
  if (!made.on.empty() && std::ranges::any_of(race.candidates, [&](const tune::setting& each) {
        return each.cores != 0 && each.cores != all;
      })) {
    made.remarks.emplace_back("predicted times contain no computing: they say nothing about "
                              "settings with fewer threads");
  }
  race.machine = machine_json(here.machine()).dump();
  race.program = identity_of(program_in(race.command));
  race.settings = settings_json(sys::real_kernel()).dump();
  return made;
}

} // namespace nodewise::cli
