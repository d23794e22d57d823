// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `nodewise run` reports after the program has ended.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "launch/agent_report.hpp"
#include "launch/plan.hpp"
#include "launch/start.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// "solver.c:41" for the allocation site of an object; empty if it is unknown.
using site_namer = std::function<std::string(const launch::object_report&)>;

/// The data that the functions below report.
struct run_result {
  const launch::plan& asked;
  const launch::outcome& found;
  const topology& here;
  site_namer name_site; ///< may be empty

  /// The value of --memory, as a word of the result file.
  [[nodiscard]] std::string_view placement() const;
  /// Whether the thread that a static loop gives each page to is known.
  [[nodiscard]] bool has_owners() const;
  /// Share of the located pages that are where they were requested, 0..1; nothing if no page was
  /// located, or if no page has a node of its own (interleaved, local).
  [[nodiscard]] std::optional<double> share_as_asked(const launch::object_report& object) const;
  /// Share of the located pages that are on the node of the thread that a static loop gives them
  /// to; nothing for an object placed in another way or resized since, and if the number of threads
  /// differs from the layout's.
  [[nodiscard]] std::optional<double> local_share(const launch::process_report& process,
                                                  const launch::object_report& object) const;
  /// The position of the plan file's entry that placed an object.
  [[nodiscard]] std::optional<std::size_t> entry_of(const launch::object_report& object) const;
  /// Unknown is not success: an object whose pages could not be located counts as misplaced.
  [[nodiscard]] bool is_as_asked(const launch::object_report& object) const;
  /// Whether all requested memory placement happened, as far as the agent could see. --strict
  /// requires it.
  [[nodiscard]] bool is_as_asked() const;
};

/// As text: each process with its large objects, where their pages were, and its threads.
[[nodiscard]] std::string run_text(const run_result& result, const report::style& how);
/// Why the agent did not place an object; empty if it did, or was not to.
[[nodiscard]] std::string why_not_placed(const launch::object_report& object);
/// "solver.c:41", or module and offset; "" for a static array.
[[nodiscard]] std::string site_of(const run_result& result, const launch::object_report& object);

/// Which entries of the plan file matched what; "" without a plan.
[[nodiscard]] std::string plan_text(const run_result& result, const report::style& how);
/// The same for the result file, for the requested plan. Without the agent there are no counts.
[[nodiscard]] nlohmann::ordered_json plan_json(const run_result& result,
                                               const launch::planned_file& plan);

} // namespace nodewise::cli
