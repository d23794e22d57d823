// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/chart.hpp"
#include "drawing/colours.hpp"
#include "drawing/heat_map.hpp"
#include "measure/experiments.hpp"
#include "topology/machine_json.hpp"
#include "tune/location.hpp"

namespace nodewise::cli {

namespace {

using drawing::chart;
using drawing::chart_point;
using html::cell_kind;

/// A figure as the file has it.
struct measured_figure {
  std::string label;
  std::string unit;
  std::optional<node_id> from;
  std::size_t threads = 0;
  std::optional<double> median; ///< nullopt: unavailable
  double low = 0;
  double high = 0;
  std::optional<double> beside; ///< GB/s that others drew meanwhile
  std::string unavailable;      ///< why
};
using by_experiment = std::vector<std::pair<std::string, std::vector<measured_figure>>>;

std::optional<double> median_in(const json_field& amounts) {
  std::vector<double> all;
  for (const json_field& each : amounts.elements()) {
    all.push_back(each.number());
  }
  return all.empty() ? std::nullopt : std::optional(tune::median_of(std::move(all)));
}

measured_figure figure_from(const json_field& point) {
  measured_figure made;
  made.label = point.at("label").text();
  made.unit = point.at("unit").text();
  made.threads = point.at("threads").whole_number();
  if (const json_field from = point.at("from"); !from.is_text()) {
    made.from = node_id{from.small_number(0, max_id)};
  }
  if (const auto median = point.find("median")) {
    made.median = median->number();
    made.low = point.at("low").number();
    made.high = point.at("high").number();
  } else if (const auto why = point.find("unavailable")) {
    made.unavailable = why->text();
  }
  if (const auto beside = point.find("beside_gb_per_s")) {
    made.beside = median_in(*beside);
  }
  return made;
}

by_experiment figures_in(const json_field& document) {
  by_experiment all;
  for (const json_field& point : document.at("points").elements()) {
    const std::string name = point.at("experiment").text();
    auto found = std::ranges::find(all, name, [](const auto& each) { return each.first; });
    if (found == all.end()) {
      found = all.insert(all.end(), {name, {}});
    }
    found->second.push_back(figure_from(point));
  }
  return all;
}

chart_point point_of(double x, const measured_figure& of) {
  return {x, *of.median, of.low, of.high};
}

/// One line for each node that figures are from.
template <class X>
std::vector<drawing::chart_line> lines_of(const std::vector<measured_figure>& figures, X x_of) {
  std::map<node_id, drawing::chart_line> lines;
  for (const measured_figure& each : figures) {
    const auto x = x_of(each);
    if (each.median && x) {
      const node_id from = each.from.value_or(unknown_node);
      drawing::chart_line& line = lines[from];
      line.name = each.from ? fmt::format("node {}", *each.from) : "more than one node";
      line.colour = drawing::node_colour(from);
      line.points.push_back(point_of(*x, each));
    }
  }
  std::vector<drawing::chart_line> made;
  for (auto& [node, line] : lines) {
    made.push_back(std::move(line));
  }
  return made;
}

/// The experiments that are a curve.
std::optional<chart> chart_of(const std::string& experiment,
                              const std::vector<measured_figure>& figures) {
  if (experiment == measure::to_string(measure::experiment::scaling)) {
    return chart{"Bandwidth of more threads",
                 {"threads"},
                 {"bandwidth (GB/s)"},
                 lines_of(figures, [](const measured_figure& each) {
                   return std::optional(static_cast<double>(each.threads));
                 })};
  }
  if (experiment == measure::to_string(measure::experiment::loaded_latency)) {
    return chart{"Latency while other cores load",
                 {"bandwidth of the other cores (GB/s)"},
                 {"latency (ns)"},
                 lines_of(figures, [](const measured_figure& each) { return each.beside; })};
  }
  return std::nullopt;
}

html::table table_of_figures(const std::string& name, const std::vector<measured_figure>& figures) {
  html::table made{name,
                   {{"what"},
                    {"median", cell_kind::number},
                    {"interval of the median", cell_kind::number},
                    {"threads", cell_kind::number}},
                   {}};
  for (const measured_figure& each : figures) {
    const bool known = each.median.has_value();
    made.rows.push_back({each.label + (each.unavailable.empty() ? "" : ": " + each.unavailable),
                         known ? fmt::format("{} {}", drawing::figure_text(*each.median), each.unit)
                               : "unavailable",
                         known ? fmt::format("{} to {}", drawing::figure_text(each.low),
                                             drawing::figure_text(each.high))
                               : "",
                         fmt::format("{}", each.threads)});
  }
  return made;
}

std::string explained(const std::string& experiment) {
  const auto known =
      std::ranges::find(measure::all_experiments, experiment, &measure::description::name);
  return known == std::ranges::end(measure::all_experiments) ? "" : std::string(known->explains);
}

void add_chart(const std::string& experiment, const chart& what,
               const std::vector<measured_figure>& figures, html::section& to, report_page& into) {
  into.add_figure(
      to, experiment,
      pictured(what.title, fmt::format("{} against {}", what.y.title, what.x.title), what),
      "Medians, with their intervals.", table_of_figures(experiment, figures), &what);
}

std::optional<double> best_of(const by_experiment& all, std::string_view experiment, bool most) {
  std::optional<double> best;
  for (const auto& [name, figures] : all) {
    for (const measured_figure& each : figures) {
      if (name == experiment && each.median &&
          (!best || (most ? *each.median > *best : *each.median < *best))) {
        best = each.median;
      }
    }
  }
  return best;
}

/// A sentence with the range of bandwidths or latencies between nodes.
std::string verdict_of_measurement(const by_experiment& all, const machine& on) {
  std::string made = fmt::format("{}: {}", on.name.empty() ? "This machine" : on.name,
                                 counted(on.nodes.size(), "node"));
  const auto range = [&](std::string_view experiment, std::string_view unit) {
    const auto least = best_of(all, experiment, false);
    const auto most = best_of(all, experiment, true);
    if (least && most) {
      made += fmt::format("; {} {}{} {}", experiment, drawing::figure_text(*least),
                          *most > *least ? " to " + drawing::figure_text(*most) : "", unit);
    }
  };
  range("latency", "ns");
  range("bandwidth", "GB/s");
  return made + " (measured).";
}

} // namespace

void add_measurement(const json_field& document, report_page& into) {
  const topology on(machine_from_json(document.at("machine")));
  const by_experiment all = figures_in(document);
  into.set_verdict(verdict_of_measurement(all, on.machine()),
                   {{"host", document.at("host").text()},
                    {"measured", document.at("date").text()},
                    {"instructions", document.at("instruction_set").text()}});
  if (const auto stopped = document.find("stopped"); stopped && stopped->truth()) {
    into.shown.facts.emplace_back("stopped", "before every figure was as sure as it was to be");
  }
  add_machine_section(on, {}, into);
  html::section& made = into.add_section("measured", "What was measured");
  for (const auto& [experiment, figures] : all) {
    made.heading(experiment);
    if (const std::string what = explained(experiment); !what.empty()) {
      made.remark(what);
    }
    if (const auto curve = chart_of(experiment, figures)) {
      add_chart(experiment, *curve, figures, made, into);
    } else {
      made.add(table_of_figures("Figures of " + experiment, figures));
    }
  }
}

} // namespace nodewise::cli
