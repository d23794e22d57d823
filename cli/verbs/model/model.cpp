// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <span>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/machine/source.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/model/flags.hpp"
#include "cli/verbs/model/view.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli::verbs {

namespace {

// The options that only one of the two kinds of question has.
constexpr std::array<const flag*, 15> of_loops = {
    &flags::elements,    &flags::element_bytes, &flags::loop_shape,     &flags::random_access,
    &flags::chunk_start, &flags::sweep,         &flags::threads,        &flags::bind,
    &flags::smt,         &flags::cpunodebind,   &flags::physcpubind,    &flags::memory,
    &flags::stagger,     &flags::free_memory,   &flags::model_page_size};
constexpr std::array<const flag*, 2> of_traffic = {&flags::phase, &flags::region};

void require_none(std::span<const flag* const> others, const invocation& given, const char* with,
                  const char* answered, const char* hint) {
  for (const flag* const each : others) {
    if (given.has(*each)) {
      throw error(error_kind::usage, fmt::format("{} with {}", option_name(*each), with), answered,
                  hint);
    }
  }
}

void require_one_question(const invocation& given) {
  const bool is_loop = given.has(flags::kernel);
  if (is_loop ? !given.operands.empty() : given.operands.size() != 1) {
    throw error(error_kind::usage, "nodewise model",
                is_loop                  ? "a traffic file and --kernel exclude each other"
                : given.operands.empty() ? "there is nothing to predict"
                                         : "it takes one traffic file",
                "name one file that `nodewise run --on lab:NAME --on-counts FILE` wrote, or give "
                "for example --kernel triad");
  }
  if (is_loop) {
    require_none(of_traffic, given, "--kernel", "it chooses from a traffic file",
                 "leave one of them out");
  } else {
    require_none(of_loops, given, "a traffic file", "it describes a loop",
                 "leave it out, or describe a loop by --kernel");
  }
}

model::hypothesis limit_of(const invocation& given) {
  return given.text(flags::limit) == "processors" ? model::hypothesis::processors
                                                  : model::hypothesis::memory;
}

/// The machine with the figures of --set.
topology with_settings(const topology& found, const invocation& given) {
  machine with = found.machine();
  set_parameters(with, given);
  return {std::move(with), found.allowed_cpus(), found.allowed_nodes()};
}

topology read_input(const invocation& given) {
  const auto input = given.text(flags::input);
  if (!input) {
    return with_settings(this_machine_with_costs().what, given);
  }
  const auto read = [&] { return read_machine(*input, paths::of_this_process()); };
  return with_settings(for_option(flags::input, read), given);
}

void show(const reported_prediction& what, const invocation& given) {
  show_result(given, model_forms, what, [&](const report::style& how) {
    const std::string text =
        what.swept.empty() ? model_text(what.asked, what.points.front().answer, what.on, how)
                           : model_sweep_text(what.asked, what.swept, what.points, what.on, how);
    return printable(text, kept_controls::newlines_colours);
  });
}

void show_sweep(const loop_sweep& sweep, const topology& where, const model::machine_costs& on,
                const invocation& given) {
  reported_prediction all{{}, where.machine(), on, limit_of(given), sweep.what, {}};
  for (const sweep_point& each : sweep.points) {
    const placed_loop loop = place_loop(each.loop, where, on);
    if (all.points.empty()) {
      all.asked = question_of(each.loop, where.machine(), loop, sweep.what);
    }
    all.points.push_back({each.value, answer_loop(on, loop)});
  }
  show(all, given);
}

void show_one(const model_question& asked, const model_answer& answer, const topology& where,
              const model::machine_costs& on, const invocation& given) {
  show({asked, where.machine(), on, limit_of(given), {}, {{{}, answer}}}, given);
}

void model_loop(const invocation& given) {
  const loop_description described = read_loop(given);
  const auto sweep = read_sweep(described, given);
  const topology where = read_input(given);
  const model::machine_costs on = model::costs_of(where.machine(), limit_of(given));
  if (sweep) {
    show_sweep(*sweep, where, on, given);
    return;
  }
  const placed_loop loop = place_loop(described, where, on);
  show_one(question_of(described, where.machine(), loop), answer_loop(on, loop), where, on, given);
}

traffic_choice choice_of(const invocation& given, traffic::phase judged) {
  traffic_choice which{.when = judged};
  if (const auto when = given.text(flags::phase)) {
    which.when = *when == "use"    ? std::optional(traffic::phase::use)
                 : *when == "init" ? std::optional(traffic::phase::initialisation)
                                   : std::nullopt;
  }
  if (const auto region = given.text(flags::region)) {
    if (given.has(flags::phase)) {
      throw error(error_kind::usage, "--region with --phase",
                  "regions are counted over both phases", "leave --phase out");
    }
    which.region = std::string(*region);
  }
  return which;
}

void model_traffic(const invocation& given) {
  const std::string& file = given.operands.front();
  const model::schedule how = read_schedule(given.text(flags::schedule).value_or("static"));
  const model::work work = how.is_pooled() ? model::work::pooled : model::work::fixed;
  const nlohmann::ordered_json document = read_json_file(file);
  const json_field root(document, "the traffic file " + file);
  const traffic_file found = traffic_from_json(root);
  const topology where =
      given.has(flags::input) ? read_input(given) : with_settings(topology_from_json(root), given);
  const traffic_choice which = choice_of(given, found.judged);
  const model::machine_costs on = model::costs_of(where.machine(), limit_of(given));
  const priced_traffic what = price_of_counts(found.all, which, on);
  show_one(question_of(file, which, where.machine(), what, work), answer_traffic(on, what, work),
           where, on, given);
}

} // namespace

int model(const invocation& given) {
  require_one_question(given);
  check_output(given);
  if (given.has(flags::kernel)) {
    model_loop(given);
  } else {
    model_traffic(given);
  }
  return exit_code::ok;
}

} // namespace nodewise::cli::verbs
