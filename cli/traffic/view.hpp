// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Shows and writes a count of memory traffic.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "report/style.hpp"
#include "traffic/summary.hpp"

namespace nodewise::cli {

/// As text: how much is local, which memory carries it, which objects and lines are remote; then
/// `more`, then what is not counted.
[[nodiscard]] std::string traffic_text(const traffic::summary& what, const report::style& how,
                                       const std::string& more = {});

/// The parts of `traffic_text`, each beginning with an empty line; empty if there is nothing to
/// show.
[[nodiscard]] std::string traffic_objects_text(const traffic::summary& what,
                                               const report::style& how);
[[nodiscard]] std::string traffic_lines_text(const traffic::summary& what,
                                             const report::style& how);
[[nodiscard]] std::string traffic_loads_text(const traffic::summary& what,
                                             const report::style& how);
[[nodiscard]] std::string traffic_matrix_text(const traffic::summary& what,
                                              const report::style& how);

/// The fewest lines that get a row in text output: more than a thousandth of the judged phase.
[[nodiscard]] std::uint64_t least_worth_a_row(const traffic::summary& what);
/// "a, b and 3 more": at most `most` names.
[[nodiscard]] std::string listed(const std::vector<std::string>& names, std::size_t most);
/// "triad.c:12", "triad.c:12 (50 objects)".
[[nodiscard]] std::string label_of(const traffic::named_site& site);
/// What no count includes, and what this one lacks: one sentence each.
[[nodiscard]] std::vector<std::string> not_counted(const traffic::counts& of);

/// `nodewise/traffic/1`.
[[nodiscard]] nlohmann::ordered_json traffic_json(const traffic::summary& what, const machine& on,
                                                  nlohmann::ordered_json settings);

} // namespace nodewise::cli
