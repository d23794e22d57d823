// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/options.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/tune/flags.hpp"
#include "launch/executable.hpp"
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

std::vector<tune::setting> settings_of(const invocation& given, const topology& here) {
  if (const auto file = given.text(flags::candidates)) {
    const std::string name(*file);
    return tune::read_candidates(
        read_whole(name, fmt::format("{} {}", option_name(flags::candidates), name),
                   largest_result_file),
        name);
  }
  tune::candidate_request request;
  if (const auto over = given.text(flags::over)) {
    request.over = for_option(flags::over, [&] { return tune::read_axes(*over); });
  }
  for (const std::string_view text : given.texts(flags::attempt)) {
    request.tries.emplace_back(text);
  }
  request.threads = threads_of_program();
  request.huge_pages = sys::read_huge_page_mode(sys::real_kernel());
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
void check_settings(const std::vector<tune::setting>& all,
                    const std::vector<std::string>& program) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::vector<std::string> line = tune::command_of(all[i], {"run"}, program);
    std::vector<const char*> words;
    for (const std::string& word : line) {
      words.push_back(word.c_str());
    }
    try {
      const invocation read = parse(words);
      check_groups(read);
      (void)read_run_options(read);
    } catch (const error& e) {
      throw error(error_kind::usage,
                  fmt::format("the setting {}: {}", tune::text(all[i]), e.asked()), e.answered(),
                  e.hint());
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
  const auto changed = fs::last_write_time(file, failed).time_since_epoch().count();
  return nlohmann::json{
      {"file", fs::absolute(file).string()}, {"bytes", bytes}, {"changed", changed}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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

} // namespace

tune_request read_tune_options(const invocation& given, const topology& here) {
  tune_request made;
  made.rules = rules_of(given);
  made.within = percent(given, flags::within, made.within);
  tune::log_header& race = made.race;
  race.command = given.program;
  race.candidates = settings_of(given, here);
  check_settings(race.candidates, race.command);
  const auto text = [&](const flag& which) {
    const auto found = given.text(which);
    return found ? std::optional(std::string(*found)) : std::nullopt;
  };
  race.figure = {text(flags::figure), text(flags::figure_file), given.has(flags::higher)};
  for_option(flags::figure, [&] { tune::check(race.figure); });
  tune::race_options& options = race.options;
  options.candidates = race.candidates.size();
  options.equal = percent(given, flags::equal, options.equal);
  options.higher_is_better = race.figure.higher_is_better;
  options.most_runs = static_cast<std::size_t>(
      given.number(flags::most_runs, 6, 32).value_or(static_cast<long long>(options.most_runs)));
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  options.seed = static_cast<std::uint64_t>(given.number(flags::seed).value_or(now));
  race.machine = machine_json(here.machine()).dump();
  race.program = identity_of(race.command.front());
  return made;
}

} // namespace nodewise::cli
