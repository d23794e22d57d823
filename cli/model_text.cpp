// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cli/model_view.hpp"
#include "report/bar.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using model::machine_costs;
using report::align;
using report::tone;

constexpr std::size_t bar_columns = 20;

std::string node_name(const machine_costs& on, std::size_t at) {
  return std::to_string(to_int(on.nodes[at]));
}

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string title(const report::style& how, const std::string& text) {
  return "\n" + report::paint(how, tone::strong, text) + "\n";
}

std::string headline(const model_question& asked, const report::style& how) {
  std::string text = report::paint(how, tone::strong, "Predicted time") + " of " +
                     report::wrap_indented(asked.title, how.width, 2) + "\n";
  for (const std::string& line : asked.lines) {
    text += "  " + report::wrap_indented(line, how.width, 2) + "\n";
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
    return "  time: unavailable, only ratios mean something: no bandwidth of this machine is\n"
           "  known, and all memories are taken as equal (--set bandwidth=GB/s)\n";
  }
  const double seconds = answer.told.seconds;
  std::string text = "  time: " + report::paint(how, tone::strong, format_seconds(seconds));
  if (answer.useful_bytes) {
    text += ", " + format_bandwidth(*answer.useful_bytes / seconds) + " by STREAM's count";
  }
  return text + ", " + format_bandwidth(answer.told.bytes_per_s()) + " moved\n";
}

std::string ratio_line(const model_answer& answer, const report::style& how) {
  const auto ratio = answer.ratio();
  if (!ratio) {
    return {};
  }
  constexpr double as_good = 1.005; // prints as 1.00
  const tone look = *ratio < as_good ? tone::good : tone::warning;
  if (*ratio < as_good) {
    return "  " + report::paint(how, look, "as good as the best placement known") + "\n";
  }
  return "  " + report::paint(how, look, short_number(*ratio) + " times the best placement") +
         " (each byte " + answer.alternatives.front().name + ")\n";
}

/// The times by each reading, if it matters how threads run relative to each other.
std::string readings_line(const model_answer& answer, const machine_costs& on,
                          const report::style& how) {
  const auto [least, most] =
      std::ranges::minmax_element(answer.readings, {}, &read_seconds::seconds);
  constexpr double worth_telling = 1.01;
  if (answer.readings.empty() || most->seconds <= least->seconds * worth_telling) {
    return {};
  }
  std::string text = "by the reading '" + std::string(model::to_string(answer.by)) + "'; ";
  for (const read_seconds& each : answer.readings) {
    text += std::string(&each == &answer.readings.front() ? "" : ", ") +
            std::string(model::to_string(each.by)) + " " +
            time_text(on, each.seconds, answer.told.seconds);
  }
  return "  " + report::wrap_indented(text, how.width, 2) + "\n";
}

std::string alternatives_text(const model_answer& answer, const machine_costs& on,
                              const report::style& how) {
  double most = answer.told.seconds;
  for (const model::alternative& each : answer.alternatives) {
    most = std::max(most, each.seconds);
  }
  report::table rows({{"each byte"}, {"time", align::right}, {""}}, 2);
  const auto add = [&](const std::string& name, double seconds, tone look) {
    rows.add({{name, look},
              time_text(on, seconds, answer.told.seconds),
              report::bar(how, seconds / most, bar_columns)});
  };
  add("as asked", answer.told.seconds, tone::strong);
  for (const model::alternative& each : answer.alternatives) {
    add(each.name, each.seconds, tone::plain);
  }
  return title(how, "Placements of the same traffic") + rows.to_string(how);
}

std::string loads_text(const model_answer& answer, const machine_costs& on,
                       const report::style& how) {
  constexpr std::size_t most_rows = 8;
  report::table rows({{"", align::left},
                      {"capacity", align::right},
                      {"busy"},
                      {"", align::right},
                      {"waited for", align::right}},
                     2);
  std::size_t shown = 0;
  for (const model::resource_load& load : answer.told.loads) {
    if (shown == most_rows) {
      break; // sorted: the tightest limit is first
    }
    ++shown;
    const bool is_thread = load.kind == model::resource_kind::thread;
    rows.add({load_name(load, on),
              is_thread || !on.absolute ? "-" : format_bandwidth(load.bytes_per_s),
              is_thread ? "" : report::bar(how, load.busy, bar_columns),
              is_thread ? "" : report::format_percent(load.busy),
              {load.bound > 0 ? report::format_percent(load.bound) : "-",
               load.bound > 0 ? tone::warning : tone::plain}});
  }
  const std::size_t more = answer.told.loads.size() - shown;
  return title(how, "What threads wait for, in percent of their time") + rows.to_string(how) +
         (more > 0 ? "  and " + std::to_string(more) + " more\n" : std::string{});
}

std::string change(double part) {
  return std::abs(part) < 5e-4 ? "-" : printed("%+.1f %%", part * 100);
}

std::string sensitivities_text(const model_answer& answer, const report::style& how) {
  report::table rows({{"figure"},
                      {"10 % less", align::right},
                      {"10 % more", align::right},
                      {"known from", align::left, true}},
                     2);
  std::string idle;
  for (const model::sensitivity& each : answer.sensitivities) {
    const std::string origin(model::to_string(each.from));
    if (change(each.less) == "-" && change(each.more) == "-") {
      idle += (idle.empty() ? "" : ", ") + std::string(model::to_string(each.what));
    } else {
      rows.add({std::string(model::to_string(each.what)), change(each.less), change(each.more),
                each.source.starts_with(origin) ? each.source : origin + ": " + each.source});
    }
  }
  if (answer.sensitivities.empty()) {
    return {};
  }
  std::string text = title(how, "The time, if a figure of the machine were");
  text += rows.empty() ? "" : rows.to_string(how);
  if (!idle.empty()) {
    text += "  " + report::wrap_indented("no change by " + idle, how.width, 2) + "\n";
  }
  return text;
}

std::string remarks_text(const std::vector<std::string>& remarks, const report::style& how) {
  if (remarks.empty()) {
    return {};
  }
  constexpr std::size_t most = 8;
  std::string text = title(how, "Remarks");
  for (std::size_t i = 0; i < std::min(most, remarks.size()); ++i) {
    text += "  " + report::wrap_indented(remarks[i], how.width, 2) + "\n";
  }
  if (remarks.size() > most) {
    text += "  and " + std::to_string(remarks.size() - most) + " more, which --json has\n";
  }
  return text;
}

} // namespace

std::string short_number(double value) {
  return printed(value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) {
    return short_number(seconds) + " s";
  }
  if (seconds >= 1e-3) {
    return short_number(seconds * 1e3) + " ms";
  }
  return seconds >= 1e-6 ? short_number(seconds * 1e6) + " us"
                         : short_number(seconds * 1e9) + " ns";
}

std::string format_bandwidth(double bytes_per_s) {
  return short_number(bytes_per_s / 1e9) + " GB/s";
}

std::string load_name(const model::resource_load& load, const machine_costs& on) {
  switch (load.kind) {
  case model::resource_kind::memory:
    return "memory of node " + node_name(on, load.at);
  case model::resource_kind::link:
    // As in parameters: processors of the first node read from the memory of the second.
    return (on.links[load.at].is_path ? "path " : "link ") + node_name(on, on.links[load.at].to) +
           ":" + node_name(on, on.links[load.at].from);
  case model::resource_kind::core:
    return "cores of node " + node_name(on, load.at);
  case model::resource_kind::thread:
    break;
  }
  return "nothing but itself";
}

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
    most = std::max(most, each.answer.told.seconds);
    for (const std::string& remark : each.answer.remarks) {
      if (std::ranges::find(remarks, remark) == remarks.end()) {
        remarks.push_back(remark);
      }
    }
  }
  report::table rows({{std::string(what)},
                      {on.absolute ? "time" : "relative time", align::right},
                      {""},
                      {on.absolute ? "STREAM's count" : "", align::right},
                      {"to the best", align::right},
                      {"waits for", align::left, true}},
                     2);
  for (const answered_point& each : points) {
    const model::prediction& told = each.answer.told;
    const auto ratio = each.answer.ratio();
    rows.add(
        {each.value, time_text(on, told.seconds, points.front().answer.told.seconds),
         report::bar(how, told.seconds / most, bar_columns - 8),
         on.absolute ? format_bandwidth(each.answer.useful_bytes.value_or(0) / told.seconds) : "",
         ratio ? short_number(*ratio) + " x" : "-",
         told.loads.empty() ? "-" : load_name(told.loads.front(), on)});
  }
  return headline(asked, how) + "\n" + rows.to_string(how) + remarks_text(remarks, how);
}

} // namespace nodewise::cli
