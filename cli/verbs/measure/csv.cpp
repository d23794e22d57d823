// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "cli/verbs/measure/view.hpp"

namespace nodewise::cli {

namespace {

using report::csv_field;

csv_field node_field(node_id node) {
  return node == unknown_node ? csv_field("any") : csv_field(to_int(node));
}

/// The figure's fields are empty if there is none.
std::string figure_row(const measure::record& of) {
  std::vector<csv_field> row = {to_string(of.of),  of.label,  node_field(of.from),
                                node_field(of.to), of.kernel, of.threads,
                                of.bytes,          of.unit};
  if (of.is_known()) {
    const measure::estimate figure = of.found.figure();
    row.insert(row.end(), {figure.median, figure.low, figure.high, figure.confidence, figure.p25,
                           figure.p75, figure.two_humped});
  } else {
    row.insert(row.end(), 7, "");
  }
  const auto& disturbed = of.found.disturbed;
  const auto part = [&](double measure::disturbance::* which) {
    return disturbed ? csv_field((*disturbed).*which) : csv_field("");
  };
  row.insert(row.end(),
             {of.found.on_node, of.found.in_huge_pages, part(&measure::disturbance::stolen),
              part(&measure::disturbance::others), part(&measure::disturbance::elsewhere),
              of.found.frequency_mhz, of.found.unavailable, of.found.wrong});
  return report::csv_line(row);
}

} // namespace

std::string reported_measurement_csv(const reported_measurement& what) {
  std::string text = report::csv_line(
      {"experiment", "label",     "from",          "to",          "kernel",        "threads",
       "bytes",      "unit",      "median",        "low",         "high",          "confidence",
       "p25",        "p75",       "two_humped",    "on_node",     "in_huge_pages", "stolen",
       "others",     "elsewhere", "frequency_mhz", "unavailable", "wrong"});
  for (const measure::record& each : what.what.records) {
    text += figure_row(each);
  }
  return text;
}

} // namespace nodewise::cli
