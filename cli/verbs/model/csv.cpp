// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"
#include "cli/verbs/model/flags.hpp"
#include "cli/verbs/model/view.hpp"

namespace nodewise::cli {

namespace {

using model::machine_costs;

/// Seconds and bytes/s are meaningful only if a bandwidth is known.
std::optional<double> if_absolute(const machine_costs& on, double value) {
  return on.absolute ? std::optional(value) : std::nullopt;
}

std::string point_rows(const reported_prediction& all, const answered_point& point) {
  const model_answer& answer = point.answer;
  const model::prediction& result = answer.result;
  const std::optional<double> useful =
      answer.useful_bytes ? if_absolute(all.on, *answer.useful_bytes / result.seconds / 1e9)
                          : std::nullopt;
  std::string text = report::csv_line(
      {all.swept, point.value, "as given", if_absolute(all.on, result.seconds), 1.0, answer.ratio(),
       useful, if_absolute(all.on, result.bytes_per_s() / 1e9), result.bytes, answer.useful_bytes,
       model::to_string(answer.by),
       result.loads.empty() ? "" : load_name(result.loads.front(), all.on)});
  for (const model::alternative& each : answer.alternatives) {
    text += report::csv_line({all.swept, point.value, each.name, if_absolute(all.on, each.seconds),
                              each.seconds / result.seconds, "", "", "", "", "", "", ""});
  }
  return text;
}

} // namespace

std::string model_csv(const reported_prediction& what) {
  std::string text = report::csv_line({"swept", "value", "placement", "seconds", "ratio_to_asked",
                                       "ratio_to_best", "gb_per_s", "moved_gb_per_s", "bytes",
                                       "useful_bytes", "reading", "waits_for"});
  for (const answered_point& each : what.points) {
    text += point_rows(what, each);
  }
  return text;
}

} // namespace nodewise::cli
