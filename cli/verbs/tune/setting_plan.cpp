// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/setting_plan.hpp"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/start/flags.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/tune/setting_line.hpp"
#include "launch/executable.hpp"
#include "plan/plan_json.hpp"
#include "report/envelope.hpp"
#include "symbols/module.hpp"
#include "sys/kernel.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

/// nullopt for a placement that is no plan's: a kernel policy, or weights that are not numbers yet.
std::optional<placements::placement> planned(const launch::memory_choice& memory) {
  try {
    auto made = placements::read(memory.words, placements::grammar::plan_file,
                                 [](std::string_view list) { return node_set::parse(list); });
    return placements::is_by_measurement(made) ? std::nullopt : std::optional(std::move(made));
  } catch (const error&) {
    return std::nullopt;
  }
}

/// Changes the plan as the option does; false if no plan can hold it.
bool take(const invocation::option& each, const launch::run_options& all, plans::plan_file& into) {
  if (each.what == &flags::plan) {
    return true; // the plan begins with it
  }
  if (each.what == &flags::bind || each.what == &flags::places) {
    into.bind = all.bind;
    into.places = all.places;
    return true;
  }
  if (each.what == &flags::main_thread) {
    into.main_works = all.main_works;
    return true;
  }
  if (each.what == &flags::threads && all.bind != bind_policy::none && all.teams.empty()) {
    into.threads = all.threads.value_or(0);
    return true;
  }
  if (each.what == &flags::memory) {
    if (auto where = planned(all.memory)) {
      into.objects.push_back({{}, std::move(*where), ""}); // after those of its own plan
      return true;
    }
  }
  return false;
}

} // namespace

setting_as_plan plan_of(const tune::setting& how, const std::string& program, const topology& on) {
  setting_as_plan made;
  if (how.options.empty()) {
    return made;
  }
  const invocation given = run_line_of(how);
  const launch::run_options all = read_run_options(given);
  if (const auto file = given.text(flags::plan)) {
    made.plan = plans::read_plan(std::string(*file));
  }
  for (const invocation::option& each : given.options) {
    if (!take(each, all, made.plan)) {
      made.beside.push_back(word_of(each));
    }
  }
  made.plan.nodes = on.domains().size();
  const std::string file = launch::find_executable(program, std::getenv("PATH"));
  made.plan.program = last_part(file);
  made.plan.build_id = symbols::build_id(file);
  return made;
}

std::string plan_json(const plans::plan_file& what, const topology& on) {
  auto document =
      report::envelope("plan", 1, machine_json(on.machine()), settings_json(sys::real_kernel()));
  plans::append(document, what);
  return report::json_text(document);
}

} // namespace nodewise::cli
