// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The sections of a profile.
#pragma once

#include <vector>

#include <nodewise/topology.hpp>

#include "advise/advise.hpp"
#include "cli/verbs/report/arrays.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "cli/verbs/report/planned.hpp"

namespace nodewise::cli {

struct profile_parts {
  const profile::profile& what;
  const topology& on;
  const advise::advice& found;
  std::vector<shown_array> arrays = {}; ///< most used first
  node_matrix between = {};             ///< what moved between nodes
  /// Of the plan of each program that has one, by its position.
  std::map<std::size_t, planned_pages> planned = {};

  /// Of all arrays.
  [[nodiscard]] double used() const {
    double sum = 0;
    for (const shown_array& each : arrays) {
      sum += each.used;
    }
    return sum;
  }
  /// Whether amounts are cache lines: "75 lines", else only shares mean something.
  [[nodiscard]] bool is_counted() const { return what.seen.counts; }
};

/// A profile as advice sees it: with its first rows joined (profile/first_rows.hpp).
[[nodiscard]] profile::profile profile_in(const json_field& document);

/// What the words mean, once in a page, and what to type.
void add_summary(const profile_parts& of, report_page& page, html::section& into);
void add_findings(const profile_parts& of, report_page& into);
void add_arrays(const profile_parts& of, report_page& into);
void add_traffic(const profile_parts& of, report_page& into);
/// Where threads were, and how much was remote, from the beginning of the run to its end. Adds
/// nothing if both are unknown. Returns what is missing and why.
[[nodiscard]] std::vector<std::string> add_over_time(const profile_parts& of, report_page& into);
void add_threads(const profile_parts& of, report_page& into);
void add_lines(const profile_parts& of, report_page& into);
/// `unavailable`: what other sections could not show.
void add_evidence(const profile_parts& of, std::vector<std::string> unavailable, report_page& into);

} // namespace nodewise::cli
