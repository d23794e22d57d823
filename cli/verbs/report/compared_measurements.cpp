// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What changed between two measurements.
#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/measurements/comparison.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/heat_map.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

std::string figure_cell(const measure::record& of) {
  const measure::estimate figure = of.found.figure();
  return fmt::format("{} {} ({} to {})", drawing::figure_text(figure.median), of.unit,
                     drawing::figure_text(figure.low), drawing::figure_text(figure.high));
}

html::table table_of_changes(const std::vector<compared_figure>& all, std::string caption,
                             bool apart) {
  html::table made{std::move(caption),
                   {{"experiment"},
                    {"what"},
                    {"before", cell_kind::number},
                    {"after", cell_kind::number},
                    {"ratio", cell_kind::number},
                    {"judgement"}},
                   {}};
  for (const compared_figure& each : all) {
    if (each.found.apart == apart) {
      made.rows.push_back({std::string(to_string(each.after.of)), each.after.label,
                           figure_cell(each.before), figure_cell(each.after),
                           each.before.found.figure().median > 0
                               ? drawing::figure_text(each.found.ratio)
                               : std::string(unavailable_cell),
                           std::string(judgement_text(each.is))});
    }
  }
  drop_empty_columns(made);
  return made;
}

std::string measurement_words(const result_file& file, const measure::measurement& what) {
  return fmt::format("{}: {}, {}", file.name, what.host.empty() ? "an unknown host" : what.host,
                     what.date);
}

} // namespace

void compare_measurements(const result_file& before, const result_file& after, report_page& into) {
  const measure::measurement was = measure::read_measurement(before.root);
  const measure::measurement is = measure::read_measurement(after.root);
  const compared_measurements found = compare(was, is);
  into.set_verdict(
      found.figures.empty()
          ? std::string("The measurements have no figure in common.")
          : fmt::format("Of {} in both measurements, {} became better and {} worse.",
                        counted(found.figures.size(), "figure"), found.number_of(judgement::better),
                        found.number_of(judgement::worse)),
      {{"before", measurement_words(before, was)}, {"after", measurement_words(after, is)}});
  html::section& made = into.add_section("measured", "What changed");
  if (!found.other_things.empty()) {
    made.paragraph(found.other_things);
  }
  const html::table changed =
      table_of_changes(found.figures, "Figures whose intervals do not overlap", true);
  if (changed.rows.empty()) {
    made.paragraph("No figure changed by more than its interval.");
  } else {
    made.long_table(into.add_table("measured", changed), changed);
  }
  made.list(found.counts);
  const html::table same =
      table_of_changes(found.figures, "Figures whose intervals overlap", false);
  if (!same.rows.empty()) {
    made.begin_folded("Figures without a change");
    made.add(same);
    made.end_folded();
  }
}

} // namespace nodewise::cli
