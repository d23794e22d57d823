// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/result.hpp"

#include <exception>
#include <utility>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/machine/source.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "plan/plan_json.hpp"
#include "profile/first_rows.hpp"
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

/// The most valuable plan; else the plan of the largest program, which may be empty; nothing if no
/// program was seen.
std::optional<advise::proposal> best_plan(const profile_result& found, const advise::advice& advice,
                                          const topology& on) {
  if (!advice.plans.empty()) {
    return advice.plans.front();
  }
  const auto largest = largest_position(found.what);
  return largest ? std::optional(advise::make_plan(found.what, on, *largest)) : std::nullopt;
}

/// The plan to write to the file: this plan, or a candidate that was counted to be better.
plans::plan_file plan_to_write(const advise::proposal& plan, const std::optional<proof>& proven) {
  if (!proven) {
    return plan.plan;
  }
  if (proven->best) {
    return proven->tried[*proven->best].plan;
  }
  plans::plan_file as_it_is = plan.plan;
  as_it_is.objects.clear();
  as_it_is.libraries.clear();
  as_it_is.bind = plan.rebinds ? bind_policy::none : plan.plan.bind;
  return as_it_is;
}

void write_plan(const profile_result& found, const std::optional<advise::proposal>& plan,
                const std::optional<proof>& proven, const invocation& given) {
  const auto file = given.text(flags::write_plan);
  if (!file) {
    return;
  }
  const std::string asked = fmt::format("--write-plan {}", *file);
  if (!plan) {
    throw error(error_kind::input, asked, "no program was observed",
                "start the program under nodewise profile");
  }
  if (!plan->disagreement.empty()) {
    throw error(error_kind::usage, asked, "one plan does not fit all ranks: " + plan->disagreement,
                "write a plan from each rank's file separately");
  }
  auto document = report::envelope("plan", 1, machine_json(found.on.machine()), *found.settings);
  plans::append(document, plan_to_write(*plan, proven));
  write_to_file(flags::write_plan, *file, report::json_text(document));
}

/// The command that applies the plan, or how to get its file.
std::string next_step(const profile_result& found, const advise::proposal& plan,
                      const std::optional<proof>& proven, const invocation& given) {
  const auto file = given.text(flags::write_plan);
  const plans::plan_file written = plan_to_write(plan, proven);
  if (written.objects.empty() && !plan.rebinds) {
    return file ? fmt::format("The plan in {} places no array: no better placement was found.\n",
                              printable(*file))
                : "";
  }
  if (!file) {
    return "--write-plan FILE writes the plan, which nodewise run --plan FILE applies.\n";
  }
  const auto on = given.text(flags::on);
  return "Apply it to the same program:\n" +
         plan_command_text(found.what, *file, on ? fmt::format("--on {}", *on) : "");
}

void report_advice(const profile_result& seen, const invocation& given, int text_to,
                   const run_with_plan& run) {
  const flag* const form = given.selected_form(); // -o saves the profile, not the advice
  const bool as_text = asks_for_text(given);
  const bool verbose = given.has(flags::verbose);
  if (form == nullptr && !as_text && !given.has(flags::write_plan)) {
    return;
  }
  profile_result found = seen;
  for (profile::program& each : found.what.programs) {
    profile::join_first_rows(each, found.what.page_bytes);
  }
  const topology on = priced_on(found, given);
  const advise::advice advice = advise::advise(found.what, on);
  const report::style how = style_of(text_to, given);
  const auto print = [&](const std::string& text) {
    text_to == STDERR_FILENO ? write_error(text) : write_out(text);
  };
  if (as_text) {
    print(advice_text(found.what, advice, on.machine(), verbose, how));
  }
  const std::optional<advise::proposal> plan = best_plan(found, advice, on);
  std::optional<proof> proven;
  if (run && plan) {
    proven = prove(*plan, advise::alternatives(found.what, on, plan->program),
                   found.what.programs[plan->program].tbb,
                   [&](const plans::plan_file& with) { return run(with, on); });
  }
  if (form != nullptr) {
    write_out(written(*form, profile_forms, reported_advice{found, advice, proven, on.machine()}));
  }
  if (as_text && plan && (changes_anything(*plan) || (proven && !proven->tried.empty()))) {
    print("\n" + plan_text(found.what, *plan, proven, verbose, how));
  }
  for (std::size_t i = 1; as_text && i < advice.plans.size(); ++i) {
    print("\n" + plan_text(found.what, advice.plans[i], std::nullopt, verbose, how));
  }
  write_plan(found, plan, proven, given);
  if (as_text && plan) {
    print(next_step(found, *plan, proven, given));
  }
  if (as_text) {
    print(report_line(given, how));
  }
}

/// The machine with the memory sizes of `first`: those of a virtual machine grow and shrink while
/// ranks start. A node without memory stays one.
machine with_memory_of(const machine& first, machine of) {
  for (std::size_t n = 0; n < std::min(first.nodes.size(), of.nodes.size()); ++n) {
    if (first.nodes[n].memory_bytes > 0 && of.nodes[n].memory_bytes > 0) {
      of.nodes[n].memory_bytes = first.nodes[n].memory_bytes;
    }
  }
  return of;
}

} // namespace

std::optional<std::size_t> largest_position(const profile::profile& of) {
  const profile::program* const largest = profile::largest_program(of);
  return largest == nullptr ? std::nullopt
                            : std::optional(static_cast<std::size_t>(largest - of.programs.data()));
}

profile_result read_profile(const std::string& file) {
  const auto document = read_json_file(file);
  const json_field root(document, "the profile " + file);
  check_schema(root, profile::schema, profile::older_schema);
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
      throw error(error_kind::usage, fmt::format("{} and {}", files.front(), files[i]),
                  name == all.on.machine().name
                      ? fmt::format("they describe different parts of {}, or it has changed", name)
                      : fmt::format("they are from different machines: {} and {}",
                                    all.on.machine().name, name),
                  "give the files of one run on one host");
    }
    parts.push_back({files[i], std::move(next.what)});
  }
  all.what = profile::merge(std::move(parts));
  return all;
}

void check_profile_output(const invocation& given) {
  check_output(given);
  refuse_terminal(given);
  if (const auto file = given.text(flags::write_plan)) {
    check_file(flags::write_plan, *file);
  }
}

void report_profile(const profile_result& found, const invocation& given, int text_to,
                    const run_with_plan& run) {
  std::exception_ptr unwritten; // thrown at the end, so that the advice is not lost
  if (const auto file = given.text(flags::output)) {
    try {
      write_to_file(
          flags::output, *file,
          report::json_text(profile_json(found.what, found.on.machine(), *found.settings)));
    } catch (const error&) {
      unwritten = std::current_exception();
    }
  }
  report_advice(found, given, text_to, run);
  if (unwritten) {
    std::rethrow_exception(unwritten);
  }
}

} // namespace nodewise::cli
