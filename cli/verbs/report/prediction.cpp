// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/prediction.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/bars.hpp"
#include "drawing/heat_map.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using drawing::figure_text;
using drawing::weight;
using html::cell_kind;

std::string seconds_words(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : std::string(unavailable_cell);
}

std::string rate_words(const std::optional<double>& gb_per_s) {
  return gb_per_s ? figure_text(*gb_per_s) + " GB/s" : std::string(unavailable_cell);
}

/// Ratios to the best: placements may be equal but for rounding.
bool is_best(const predicted_answer& of) {
  return of.to_best && *of.to_best < 1.005;
}

std::string prediction_sentence(const predicted_answer& of, const std::string& question) {
  std::string made = of.seconds
                         ? fmt::format("{}: {} (predicted)", question, seconds_words(of.seconds))
                         : fmt::format("{}: the time is unavailable, because no bandwidth of the "
                                       "machine is known; only ratios are predicted",
                                       question);
  if (is_best(of)) {
    made += "; no other placement is faster";
  } else if (of.to_best) {
    made += fmt::format("; {} times as long as with the best placement{}", figure_text(*of.to_best),
                        of.placements.empty() ? "" : " (" + of.placements.front().name + ")");
  }
  if (!of.loads.empty() && of.loads.front().bound > 0) {
    made += "; threads wait most for " + of.loads.front().name;
  }
  return made + ".";
}

/// The time of a point, or its ratio to the shortest if no time is known.
const std::pair<std::string, predicted_answer>& fastest_of(const shown_prediction& of) {
  return *std::ranges::min_element(of.answers, {}, [](const auto& each) {
    return each.second.seconds.value_or(each.second.to_best.value_or(1));
  });
}

std::string sweep_sentence(const shown_prediction& of) {
  const auto& [value, answer] = fastest_of(of);
  return answer.seconds
             ? fmt::format("{}: of {} values of {}, {} is the fastest: {} (predicted).",
                           of.question, of.answers.size(), of.swept, value,
                           seconds_words(answer.seconds))
             : fmt::format("{}, for {} values of {}: times are unavailable, because no bandwidth "
                           "of the machine is known.",
                           of.question, of.answers.size(), of.swept);
}

drawing::bar time_bar(const predicted_time& of, weight matters) {
  drawing::bar made{of.name, "", {}, matters};
  made.note = of.seconds ? seconds_words(of.seconds) : figure_text(of.to_asked) + " times";
  made.parts.push_back(
      {"", std::string(drawing::colour_of(matters)), of.seconds.value_or(of.to_asked)});
  return made;
}

html::table times_table(const std::string& caption, const std::string& what,
                        const std::vector<predicted_time>& times) {
  html::table made{caption,
                   {{what},
                    {"predicted time", cell_kind::number},
                    {"ratio to the one asked for", cell_kind::number}},
                   {}};
  for (const predicted_time& each : times) {
    made.rows.push_back({each.name, seconds_words(each.seconds), figure_text(each.to_asked)});
  }
  return made;
}

void add_placements(const predicted_answer& of, report_page& into) {
  std::vector<predicted_time> all = {{"as asked for", of.seconds, 1}};
  all.insert(all.end(), of.placements.begin(), of.placements.end());
  drawing::bars drawn;
  for (const predicted_time& each : all) {
    drawn.rows.push_back(time_bar(each, &each == all.data() ? weight::chosen : weight::plain));
  }
  const html::table rows = times_table("Times of placements", "memory", all);
  html::section& made = into.add_section("placements", "Placements of the same traffic");
  into.add_figure(made, "placements",
                  pictured("Predicted times of placements",
                           "A bar for each placement; the table below has the numbers.", drawn),
                  "Predicted by a model, not measured. Shorter is faster.", {});
  made.long_table(into.add_table("placements", rows), rows);
  if (of.readings.size() > 1) {
    made.add(times_table("How threads stand to one another: which holds is unknown; the time is "
                         "that of \"" +
                             of.reading + "\"",
                         "reading", of.readings));
  }
}

html::table loads_table(const predicted_answer& of) {
  html::table made{"All that is used, what threads wait for most first",
                   {{"what"},
                    {"capacity", cell_kind::number},
                    {"busy", cell_kind::number},
                    {"waited for", cell_kind::number}},
                   {}};
  for (const predicted_load& each : of.loads) {
    made.rows.push_back({each.name, rate_words(each.gb_per_s), report::format_percent(each.busy),
                         report::format_percent(each.bound)});
  }
  return made;
}

void add_limits(const predicted_answer& of, report_page& into) {
  if (of.loads.empty()) {
    return;
  }
  drawing::bars drawn{.rows = {}, .whole = 1};
  for (const predicted_load& each : of.loads) {
    const weight matters = each.bound > 0 ? weight::chosen : weight::plain;
    drawn.rows.push_back({each.name,
                          fmt::format("busy {}, waited for {}", report::format_percent(each.busy),
                                      report::format_percent(each.bound)),
                          {{"", std::string(drawing::colour_of(matters)), each.busy}},
                          matters});
  }
  const html::table rows = loads_table(of);
  html::section& made = into.add_section("limits", "What limits the threads");
  into.add_figure(made, "limits",
                  pictured("How busy each part of the machine is",
                           "A bar for each part; the table below has the numbers.", drawn),
                  "Predicted. Full bars are busy all the time; threads wait for the strong ones.",
                  {});
  made.long_table(into.add_table("limits", rows), rows);
}

std::string change_words(double part) {
  return part == 0 ? "0 %" : fmt::format("{:+.3g} %", part * 100);
}

void add_inputs(const shown_prediction& of, report_page& into) {
  html::section& made = into.add_section("inputs", "What the prediction depends on");
  const auto& [value, first] = fastest_of(of);
  if (!first.changes.empty()) {
    const std::string which = of.swept.empty() ? "" : fmt::format(" of {} {}", of.swept, value);
    html::table changes{"Change of the time" + which + " if a figure of the machine is different",
                        {{"figure"},
                         {"10 % less", cell_kind::number},
                         {"10 % more", cell_kind::number},
                         {"source"}},
                        {}};
    for (const predicted_change& each : first.changes) {
      changes.rows.push_back(
          {each.what, change_words(each.less), change_words(each.more), each.source});
    }
    made.add(changes);
  }
  html::table inputs{"Figures of the machine",
                     {{"figure"}, {"of"}, {"value", cell_kind::number}, {"origin"}, {"source"}},
                     {}};
  for (const predicted_input& each : of.inputs) {
    inputs.rows.push_back({each.what, each.of, each.value, each.origin, each.source});
  }
  made.long_table(into.add_table("inputs", inputs), inputs);
}

html::table sweep_table(const shown_prediction& of) {
  html::table made{"Times by " + of.swept,
                   {{of.swept},
                    {"predicted time", cell_kind::number},
                    {"by STREAM's count", cell_kind::number},
                    {"moved", cell_kind::number},
                    {"ratio to the best placement", cell_kind::number},
                    {"threads wait most for"}},
                   {}};
  for (const auto& [value, each] : of.answers) {
    made.rows.push_back({value, seconds_words(each.seconds), rate_words(each.gb_per_s),
                         rate_words(each.moved_gb_per_s),
                         each.to_best ? figure_text(*each.to_best) : std::string(unavailable_cell),
                         each.loads.empty() ? "" : each.loads.front().name});
  }
  return made;
}

void add_sweep(const shown_prediction& of, report_page& into) {
  drawing::bars drawn;
  for (const auto& each : of.answers) {
    const auto& [value, answer] = each;
    const weight matters =
        answer.seconds && &each == &fastest_of(of) ? weight::chosen : weight::plain;
    drawn.rows.push_back(
        {fmt::format("{} {}", of.swept, value),
         seconds_words(answer.seconds),
         {{"", std::string(drawing::colour_of(matters)), answer.seconds.value_or(0)}},
         matters});
  }
  const html::table rows = sweep_table(of);
  html::section& made = into.add_section("sweep", "Times by " + of.swept);
  into.add_figure(made, "sweep",
                  pictured("Predicted times by " + of.swept,
                           "A bar for each value; the table below has the numbers.", drawn),
                  "Predicted by a model, not measured. Shorter is faster.", {});
  made.long_table(into.add_table("sweep", rows), rows);
}

/// Of all answers, each once.
std::vector<std::string> remarks_of(const shown_prediction& of) {
  std::vector<std::string> all;
  for (const auto& [value, answer] : of.answers) {
    for (const std::string& each : answer.remarks) {
      if (std::ranges::find(all, each) == all.end()) {
        all.push_back(each);
      }
    }
  }
  return all;
}

} // namespace

void add_prediction(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/prediction/2");
  const topology on(machine_from_json(document.at("machine")));
  shown_prediction of = prediction_in(document);
  const predicted_answer& answer = of.answers.front().second;
  of.facts.insert(of.facts.begin(), {"machine", machine_name_of(on.machine())});
  if (of.swept.empty()) {
    of.facts.emplace_back("moved", fmt::format("{} at {}", bytes_words(answer.bytes),
                                               rate_words(answer.moved_gb_per_s)));
    if (answer.gb_per_s) {
      of.facts.emplace_back("by STREAM's count", rate_words(answer.gb_per_s));
    }
  }
  into.set_verdict(of.swept.empty() ? prediction_sentence(answer, of.question) : sweep_sentence(of),
                   of.facts);
  add_machine_section(on, {}, into);
  if (of.swept.empty()) {
    add_placements(answer, into);
    add_limits(answer, into);
  } else {
    add_sweep(of, into);
  }
  add_inputs(of, into);
  html::section& rest = into.add_section("assumptions", "What is assumed or left out");
  rest.list(remarks_of(of));
  rest.remark("All times are predictions of a model. The only proof is a run.");
}

} // namespace nodewise::cli
