// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profile_result.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "cli/machine_source.hpp"
#include "cli/paths.hpp"
#include "cli/profile_flags.hpp"
#include "cli/profile_view.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "plan/plan_json.hpp"
#include "profile/merge.hpp"
#include "profile/profile_json.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

/// The machine whose figures price the profile.
topology priced_on(const profile_result& found, const invocation& given) {
  const auto machine = given.text(flags::input);
  if (!machine) {
    return found.on;
  }
  return for_option(flags::input, [&] { return read_machine(*machine, paths::of_this_process()); });
}

/// The plan that is worth most; or of the largest program one that says nothing.
advise::proposal best_plan(const profile_result& found, const advise::advice& advice,
                           const topology& on) {
  if (!advice.plans.empty()) {
    return advice.plans.front();
  }
  const profile::program* const largest = profile::largest_program(found.what);
  return advise::make_plan(found.what, on,
                           static_cast<std::size_t>(largest - found.what.programs.data()));
}

void write_plan(const profile_result& found, const advise::advice& advice, const topology& on,
                const invocation& given, int text_to) {
  const auto file = given.text(flags::plan);
  if (!file) {
    return;
  }
  if (found.what.programs.empty()) {
    throw error(error_kind::input, option_name(flags::plan) + " " + std::string(*file),
                "nothing was seen of any program", "profile it with the agent");
  }
  const advise::proposal plan = best_plan(found, advice, on);
  if (!plan.disagreement.empty()) {
    throw error(error_kind::usage, option_name(flags::plan) + " " + std::string(*file),
                "one plan cannot be for all ranks: " + plan.disagreement,
                "make a plan of each rank's file by itself");
  }
  auto document = report::envelope("plan", 1, machine_json(found.on.machine()), *found.settings);
  plans::append(document, plan.plan);
  write_to_file(flags::plan, *file, report::json_text(document));
  if (given.has(flags::quiet) || given.has(flags::json)) {
    return;
  }
  const bool does_nothing = plan.plan.objects.empty() && plan.plan.bind == bind_policy::none;
  const std::string next =
      does_nothing ? "Plan written, which changes nothing: no placement was found that helps.\n"
                   : "Plan written; the same binary with it:\n  nodewise run --plan " +
                         printable(*file) + " -- ...\n";
  text_to == STDERR_FILENO ? write_error(next) : write_out(next);
}

void tell_advice(const profile_result& found, const invocation& given, int text_to) {
  if (given.has(flags::quiet) && !given.has(flags::json) && !given.has(flags::plan)) {
    return;
  }
  const topology on = priced_on(found, given);
  const advise::advice advice = advise::advise(found.what, on);
  if (given.has(flags::json)) {
    write_out(report::json_text(advice_json(found.what, advice, on.machine(), *found.settings)));
  } else if (!given.has(flags::quiet)) {
    const std::string text =
        advice_text(found.what, advice, on.machine(), style_of(text_to, given));
    text_to == STDERR_FILENO ? write_error(text) : write_out(text);
  }
  write_plan(found, advice, on, given, text_to);
}

/// The machine, with as much memory as its nodes had in `first`: that of a virtual machine grows
/// and shrinks while ranks start. A node without memory stays one.
machine with_memory_of(const machine& first, machine of) {
  for (std::size_t n = 0; n < std::min(first.nodes.size(), of.nodes.size()); ++n) {
    if (first.nodes[n].memory_bytes > 0 && of.nodes[n].memory_bytes > 0) {
      of.nodes[n].memory_bytes = first.nodes[n].memory_bytes;
    }
  }
  return of;
}

} // namespace

profile_result read_profile(const std::string& file) {
  const auto document = read_json_file(file);
  const json_field root(document, "the profile " + file);
  check_schema(root, profile::schema);
  return {profile::profile_from_json(root), topology(machine_from_json(root.at("machine"))),
          std::make_shared<const nlohmann::ordered_json>(
              document.value("settings", nlohmann::ordered_json::object()))};
}

profile_result read_ranks(const std::vector<std::string>& files) {
  profile_result all = read_profile(files.front());
  const auto machine = machine_json(all.on.machine());
  std::vector<profile::kept_profile> parts = {{files.front(), std::move(all.what)}};
  for (std::size_t i = 1; i < files.size(); ++i) {
    profile_result next = read_profile(files[i]);
    const std::string& name = next.on.machine().name;
    if (machine_json(with_memory_of(all.on.machine(), next.on.machine())) != machine) {
      throw error(error_kind::usage, files.front() + " and " + files[i],
                  name == all.on.machine().name
                      ? "they saw different parts of " + name + ", or it has changed"
                      : "they are of different machines: " + all.on.machine().name + " and " + name,
                  "give the files of one run on one host");
    }
    parts.push_back({files[i], std::move(next.what)});
  }
  all.what = profile::merge(std::move(parts));
  return all;
}

void check_profile_output(const invocation& given) {
  if (const auto file = given.text(flags::output)) {
    check_file(flags::output, *file);
  }
  if (const auto file = given.text(flags::plan)) {
    check_file(flags::plan, *file);
  }
}

void tell_profile(const profile_result& found, const invocation& given, int text_to) {
  std::exception_ptr unwritten; // is told at the end: the advice must not be lost, too
  if (const auto file = given.text(flags::output)) {
    try {
      write_to_file(
          flags::output, *file,
          report::json_text(profile_json(found.what, found.on.machine(), *found.settings)));
    } catch (const error&) {
      unwritten = std::current_exception();
    }
  }
  tell_advice(found, given, text_to);
  if (unwritten) {
    std::rethrow_exception(unwritten);
  }
}

} // namespace nodewise::cli
