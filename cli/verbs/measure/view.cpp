// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/measure/view.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/machine/svg_picture.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "measure/measurement.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using measure::estimate;
using measure::experiment;
using measure::measurement;
using measure::record;
using report::cell;
using report::right;
using report::tone;

std::string range(double low, double high, const report::style& how) {
  return fmt::format("{}{}{}", format_figure(low), how.unicode ? "–" : "..", format_figure(high));
}

cell figure_cell(const record* of) {
  return of == nullptr || !of->is_known() ? cell("unavailable", tone::faint)
                                          : cell(format_figure(of->found.figure().median));
}

std::string title(const measurement& what, experiment of, std::string_view unit,
                  const report::style& how) {
  std::string done(about(of).explains);
  if (what.set == "workgroups") {
    done = what.workgroups.size() == 1 ? "workgroup " : "at the same time, workgroups ";
    done += joined(what.workgroups, " and ");
  }
  std::string name(to_string(of));
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return fmt::format("{}, {}: {}\n", report::paint(how, tone::strong, name), unit, done);
}

/// Rows: nodes with processors; columns: memories.
std::string matrix(const std::vector<const record*>& records, const report::style& how) {
  std::set<node_id> from;
  std::set<node_id> to;
  std::map<std::pair<node_id, node_id>, const record*> all;
  for (const record* each : records) {
    from.insert(each->from);
    to.insert(each->to);
    all.emplace(std::pair(each->from, each->to), each);
  }
  std::vector<report::column> columns = {{"from \\ memory"}};
  for (const node_id node : to) {
    columns.push_back(right(fmt::format("node {}", node)));
  }
  report::table rows(std::move(columns), 2);
  for (const node_id row : from) {
    std::vector<cell> cells = {fmt::format("node {}", row)};
    for (const node_id column : to) {
      cells.push_back(figure_cell(all[{row, column}]));
    }
    rows.add(std::move(cells));
  }
  return rows.to_string(how);
}

/// The title for lines that are moved but not counted: lines that stores read first, and the rest
/// of lines from which a loop reads one element.
std::string_view moved_title(const std::vector<const record*>& records) {
  const bool in_part = std::ranges::any_of(records, [](const record* each) {
    const measure::kernel* const does = measure::find_kernel(each->kernel);
    return does != nullptr && does->stores == 0 && each->moved_per_counted > 1;
  });
  return in_part ? "in whole lines" : "with write-allocate";
}

/// One row for each figure: name, median, interval and remarks.
std::string list(const std::vector<const record*>& records, const report::style& how) {
  const bool streams = std::ranges::any_of(
      records, [](const record* each) { return each->moved_per_counted > 1 && each->is_known(); });
  const bool beside =
      std::ranges::any_of(records, [](const record* each) { return !each->found.beside.empty(); });
  std::vector<report::column> columns = {{""}, right("median"), right("95 % interval")};
  if (streams) {
    columns.push_back(right(std::string(moved_title(records))));
  }
  if (beside) {
    columns.push_back(right("GB/s beside"));
  }
  report::table rows(std::move(columns), 2);
  const auto text_if = [](bool known, double value) {
    return known ? format_figure(value) : std::string();
  };
  for (const record* each : records) {
    const estimate figure = each->found.figure();
    const bool known = each->is_known();
    std::vector<cell> cells = {each->label, figure_cell(each),
                               known ? range(figure.low, figure.high, how) : std::string()};
    if (streams) {
      cells.emplace_back(
          text_if(known && each->moved_per_counted > 0, figure.median * each->moved_per_counted));
    }
    if (beside) {
      cells.emplace_back(
          text_if(!each->found.beside.empty(), measure::summarize(each->found.beside).median));
    }
    rows.add(std::move(cells));
  }
  return rows.to_string(how);
}

/// The figures of one experiment that share a remark.
struct doubt {
  std::string what;
  std::vector<std::string> labels = {};
};

/// "node 0 -> node 1: "; their number and the first ones if the full list is too long.
std::string whose(const std::vector<std::string>& labels, std::size_t all) {
  constexpr std::size_t widest = 60;
  if (labels.size() == all) {
    return all == 1 ? "" : "all: ";
  }
  std::string text;
  for (const std::string& each : labels) {
    if (!text.empty() && text.size() + each.size() > widest) {
      return fmt::format("{} of {} ({}, ...): ", labels.size(), all, text);
    }
    text += (text.empty() ? "" : ", ") + each;
  }
  return text + ": ";
}

/// The largest disturbance of each kind.
measure::disturbance worst(const std::vector<const record*>& records) {
  measure::disturbance most;
  for (const record* each : records) {
    const auto& one = each->found.disturbed;
    if (one && one->stolen + one->others > most.stolen + most.others) {
      most.stolen = one->stolen;
      most.others = one->others;
    }
    most.elsewhere = one ? std::max(most.elsewhere, one->elsewhere) : most.elsewhere;
  }
  return most;
}

/// The reasons to doubt figures: each reason once, with its figures.
std::string remarks(const std::vector<const record*>& records, const report::style& how) {
  const measure::disturbance most = worst(records);
  std::vector<doubt> doubts;
  for (const record* each : records) {
    const auto add_if = [&](bool applies, const std::string& what) {
      if (applies) {
        const auto same = std::ranges::find(doubts, what, &doubt::what);
        (same == doubts.end() ? doubts.emplace_back(what) : *same).labels.push_back(each->label);
      }
    };
    add_if(!each->is_known(), "unavailable: " + each->found.unavailable);
    if (!each->is_known()) {
      continue;
    }
    const estimate figure = each->found.figure();
    const auto disturbed = each->found.disturbed.value_or(measure::disturbance{});
    add_if(figure.two_humped, "two different values: the median is one of them");
    add_if(!figure.has_enough_visits(), "few visits: the interval contains all of them");
    add_if(disturbed.is_much(),
           fmt::format("disturbed: up to {} of the processors' time went to others",
                       report::format_percent(most.stolen + most.others)));
    add_if(disturbed.is_much_elsewhere(),
           fmt::format("busy elsewhere: other processors worked up to {} of the time",
                       report::format_percent(most.elsewhere)));
  }
  std::string text;
  for (const doubt& each : doubts) {
    text += fmt::format("  {}\n", report::paint(how, tone::warning,
                                                whose(each.labels, records.size()) + each.what));
  }
  return text;
}

/// Compares the bandwidth of all processors from one memory with that of the memory's own
/// processors, to see whether memory or processors are the limit.
std::string verdict_of_contention(const measurement& what, const record& of,
                                  const report::style& how) {
  const auto own = std::ranges::find_if(what.records, [&](const record& each) {
    return each.of == experiment::bandwidth && each.from == of.to && each.to == of.to;
  });
  const bool known = own != what.records.end() && own->is_known() && of.is_known();
  if (!known || own->threads == of.threads) {
    return "";
  }
  const measure::change found = compare(own->found.figure(), of.found.figure());
  std::string_view limit;
  if (found.significant()) {
    limit = found.ratio > 1 ? ", so its cores are the limit, not its memory"
                            : ", so its memory is the limit, and is slower when it is shared";
  } else if (!found.enough) {
    limit = ", with too few visits to find the limit";
  }
  return report::paint(how, tone::faint,
                       fmt::format("  node {}: {} times what its own cores draw{}", of.to,
                                   format_figure(found.ratio), limit)) +
         "\n";
}

std::string section(const measurement& what, experiment of, const report::style& how) {
  const auto records = what.all(of);
  if (records.empty()) {
    return "";
  }
  std::string text = title(what, of, records.front()->unit, how);
  text += about(of).is_matrix && records.size() > 1 ? matrix(records, how) : list(records, how);
  if (of == experiment::contention) {
    for (const record* each : records) {
      text += verdict_of_contention(what, *each, how);
    }
  }
  return text + remarks(records, how) + "\n";
}

/// The share in huge pages, as a range where points differ.
std::string huge_pages(const measurement& what) {
  std::optional<double> least;
  double most = 0;
  for (const record& each : what.records) {
    const auto& share = each.found.in_huge_pages;
    if (share && !about(each.of).has_own_pages) {
      least = std::min(least.value_or(1), *share);
      most = std::max(most, *share);
    }
  }
  if (!least) {
    return "";
  }
  const std::string from = report::format_percent(*least);
  const std::string to = report::format_percent(most);
  return fmt::format(", {} in huge pages", from == to ? to : fmt::format("{} to {}", from, to));
}

std::string head(const measurement& what, const report::style& how) {
  std::uint64_t bytes = 0;
  for (const record& each : what.records) {
    bytes = std::max(bytes, each.bytes);
  }
  const std::string text = fmt::format(
      "Measured{}, {}, by {}{}", what.host.empty() ? "" : " on " + what.host, what.date,
      what.instruction_set,
      bytes == 0 ? ""
                 : fmt::format(", buffers of {}{}", report::format_bytes(bytes), huge_pages(what)));
  return report::paint(how, tone::faint, text) + "\n\n";
}

} // namespace

std::string format_figure(double value) {
  const double size = std::abs(value);
  const bool is_usual = size == 0 || (size >= 0.001 && size < 1e9);
  const int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 || size == 0 ? 2 : 4;
  return is_usual ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.3g}", value);
}

std::string measurement_text(const measurement& what, const report::style& how) {
  std::string text = head(what, how);
  for (const experiment each : measure::full_set()) {
    text += section(what, each, how);
  }
  if (!what.is_complete()) {
    text += report::paint(
        how, tone::warning,
        what.records.size() == what.planned
            ? "Stopped: all figures were measured, but with fewer visits than planned."
            : fmt::format("Stopped: {} of {} figures were measured.", what.records.size(),
                          what.planned));
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json measurement_json(const measurement& what, const machine& on,
                                        nlohmann::ordered_json settings) {
  auto all = report::envelope(
      "measurement", 1, machine_json(measure::with_parameters(on, measure::parameters_of(what))),
      std::move(settings));
  measure::write_measurement(what, all);
  return all;
}

std::string reported_measurement_json(const reported_measurement& what) {
  return report::json_text(what.json);
}

std::string reported_measurement_svg(const reported_measurement& what) {
  const json_field root(what.json, "the measurement");
  return drawing::file_of(machine_picture(topology(machine_from_json(root.at("machine")))));
}

} // namespace nodewise::cli
