// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/model/view.hpp"
#include "report/bar.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

using model::machine_costs;
using report::breaking;
using report::right;
using report::tone;

constexpr std::size_t bar_columns = 20;

std::string indented(std::string_view text, const report::style& how) {
  return fmt::format("  {}\n", report::wrap_indented(text, how.width, 2));
}

std::string headline(const model_question& asked, const report::style& how) {
  std::string text = fmt::format("{} of {}\n", report::paint(how, tone::strong, "Predicted time"),
                                 report::wrap_indented(asked.title, how.width, 2));
  for (const std::string& line : asked.lines) {
    text += indented(line, how);
  }
  return text;
}

/// "118 ms", or a multiple of `one` if seconds are not meaningful.
std::string time_text(const machine_costs& on, double seconds, double one) {
  return on.absolute ? format_seconds(seconds) : short_number(seconds / one) + " x";
}

std::string time_lines(const model_answer& answer, const machine_costs& on,
                       const report::style& how) {
  if (!on.absolute) {
    return "  time: unavailable, only ratios are meaningful: no bandwidth of this machine is\n"
           "  known, and all memories are assumed to be equal (--set bandwidth=GB/s)\n";
  }
  const double seconds = answer.result.seconds;
  const std::string by_stream =
      answer.useful_bytes
          ? fmt::format(", {} by STREAM's count", format_bandwidth(*answer.useful_bytes / seconds))
          : "";
  return fmt::format("  time: {}{}, {} moved\n",
                     report::paint(how, tone::strong, format_seconds(seconds)), by_stream,
                     format_bandwidth(answer.result.bytes_per_s()));
}

std::string ratio_line(const model_answer& answer, const report::style& how) {
  const auto ratio = answer.ratio();
  if (!ratio) {
    return {};
  }
  if (*ratio < 1.005) { // prints as 1.00
    return fmt::format("  {}\n",
                       report::paint(how, tone::good, "as good as the best placement known"));
  }
  return fmt::format(
      "  {} (each byte {})\n",
      report::paint(how, tone::warning, short_number(*ratio) + " times the best placement"),
      answer.alternatives.front().name);
}

/// The times by each reading, if it matters how threads run relative to each other.
std::string readings_line(const model_answer& answer, const machine_costs& on,
                          const report::style& how) {
  const auto [least, most] =
      std::ranges::minmax_element(answer.readings, {}, &read_seconds::seconds);
  if (answer.readings.empty() || most->seconds <= least->seconds * 1.01) {
    return {};
  }
  const auto reading = [&](const read_seconds& each) {
    return fmt::format("{} {}", model::to_string(each.by),
                       time_text(on, each.seconds, answer.result.seconds));
  };
  return indented(fmt::format("by the reading '{}'; {}", model::to_string(answer.by),
                              joined(answer.readings, ", ", reading)),
                  how);
}

std::string alternatives_text(const model_answer& answer, const machine_costs& on,
                              const report::style& how) {
  const double slowest = answer.alternatives.empty() ? 0 : answer.alternatives.back().seconds;
  const double most = std::max(answer.result.seconds, slowest);
  report::table rows({"each byte", right("time"), ""}, 2);
  const auto add = [&](const std::string& name, double seconds, tone look) {
    rows.add({{name, look},
              time_text(on, seconds, answer.result.seconds),
              report::bar(how, seconds / most, bar_columns)});
  };
  add("as given", answer.result.seconds, tone::strong);
  for (const model::alternative& each : answer.alternatives) {
    add(each.name, each.seconds, tone::plain);
  }
  return rows.below("Placements of the same traffic", how);
}

std::string loads_text(const model_answer& answer, const machine_costs& on,
                       const report::style& how) {
  constexpr std::size_t most_rows = 8;
  report::table rows({"", right("capacity"), "busy", right(""), right("waited for")}, 2);
  const std::vector<model::resource_load>& loads = answer.result.loads; // tightest limit first
  const std::size_t shown = std::min(most_rows, loads.size());
  for (const model::resource_load& load : std::span(loads).first(shown)) {
    const bool is_thread = load.kind == model::resource_kind::thread;
    rows.add({load_name(load, on),
              is_thread || !on.absolute ? "-" : format_bandwidth(load.bytes_per_s),
              is_thread ? "" : report::bar(how, load.busy, bar_columns),
              is_thread ? "" : report::format_percent(load.busy),
              {load.bound > 0 ? report::format_percent(load.bound) : "-",
               load.bound > 0 ? tone::warning : tone::plain}});
  }
  return rows.below("What threads wait for, in percent of their time", how, loads.size() - shown);
}

std::string change(double part) {
  return std::abs(part) < 5e-4 ? "-" : fmt::format("{:+.1f} %", part * 100);
}

std::string sensitivities_text(const model_answer& answer, const report::style& how) {
  report::table rows({"figure", right("10 % less"), right("10 % more"), breaking("source")}, 2);
  std::vector<std::string_view> without_change;
  for (const model::sensitivity& each : answer.sensitivities) {
    const std::string_view origin = model::to_string(each.from);
    if (change(each.less) == "-" && change(each.more) == "-") {
      without_change.push_back(model::to_string(each.what));
    } else {
      rows.add({std::string(model::to_string(each.what)), change(each.less), change(each.more),
                each.source.starts_with(origin) ? each.source
                                                : fmt::format("{}: {}", origin, each.source)});
    }
  }
  if (answer.sensitivities.empty()) {
    return {};
  }
  std::string text = report::title_line("Change of the time if a figure of the machine is", how);
  text += rows.empty() ? "" : rows.to_string(how);
  if (!without_change.empty()) {
    text += indented("no effect on the time: " + joined(without_change, ", "), how);
  }
  return text;
}

std::string remarks_text(const std::vector<std::string>& remarks, const report::style& how) {
  if (remarks.empty()) {
    return {};
  }
  constexpr std::size_t most = 8;
  std::string text = report::title_line("Remarks", how);
  for (std::size_t i = 0; i < std::min(most, remarks.size()); ++i) {
    text += indented(remarks[i], how);
  }
  if (remarks.size() > most) {
    text += fmt::format("  and {} more (--json lists all)\n", remarks.size() - most);
  }
  return text;
}

} // namespace

std::string model_text(const model_question& asked, const model_answer& answer,
                       const machine_costs& on, const report::style& how) {
  return headline(asked, how) + "\n" + time_lines(answer, on, how) + ratio_line(answer, how) +
         readings_line(answer, on, how) + alternatives_text(answer, on, how) +
         loads_text(answer, on, how) + sensitivities_text(answer, how) +
         remarks_text(answer.remarks, how);
}

std::string model_sweep_text(const model_question& asked, std::string_view what,
                             const std::vector<answered_point>& points, const machine_costs& on,
                             const report::style& how) {
  double most = 0;
  std::vector<std::string> remarks;
  for (const answered_point& each : points) {
    most = std::max(most, each.answer.result.seconds);
    for (const std::string& remark : each.answer.remarks) {
      if (std::ranges::find(remarks, remark) == remarks.end()) {
        remarks.push_back(remark);
      }
    }
  }
  report::table rows({std::string(what), right(on.absolute ? "time" : "relative time"), "",
                      right(on.absolute ? "STREAM's count" : ""), right("to the best"),
                      breaking("waits for")},
                     2);
  for (const answered_point& each : points) {
    const model::prediction& result = each.answer.result;
    const auto ratio = each.answer.ratio();
    rows.add(
        {each.value, time_text(on, result.seconds, points.front().answer.result.seconds),
         report::bar(how, result.seconds / most, bar_columns - 8),
         on.absolute ? format_bandwidth(each.answer.useful_bytes.value_or(0) / result.seconds) : "",
         ratio ? short_number(*ratio) + " x" : "-",
         result.loads.empty() ? "-" : load_name(result.loads.front(), on)});
  }
  return headline(asked, how) + "\n" + rows.to_string(how) + remarks_text(remarks, how);
}

} // namespace nodewise::cli
