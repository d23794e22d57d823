// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/measurements/comparison.hpp"
#include "cli/verbs/measure/view.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

report::tone tone_of(judgement what) {
  return what == judgement::better  ? report::tone::good
         : what == judgement::worse ? report::tone::bad
                                    : report::tone::warning;
}

} // namespace

std::string comparison_text(const measure::measurement& before, const measure::measurement& after,
                            const report::style& how) {
  constexpr auto right = report::align::right;
  report::table rows(
      {{""}, {""}, {before.date, right}, {after.date, right}, {"ratio", right}, {""}});
  const compared_measurements found = compare(before, after);
  for (const compared_figure& each : found.figures) {
    if (each.found.apart) {
      const double was = each.before.found.figure().median;
      rows.add(
          {std::string(to_string(each.after.of)),
           each.after.label,
           fmt::format("{} {}", format_figure(was), each.after.unit),
           fmt::format("{} {}", format_figure(each.after.found.figure().median), each.after.unit),
           was > 0 ? format_figure(each.found.ratio) : std::string(),
           {std::string(judgement_text(each.is)), tone_of(each.is)}});
    }
  }
  std::string text = found.other_things.empty() ? "" : found.other_things + "\n";
  text += rows.empty() ? "" : rows.to_string(how);
  for (const std::string& each : found.counts) {
    text += each + "\n";
  }
  return text.empty() ? "The measurements have no figure in common.\n" : text;
}

} // namespace nodewise::cli
