// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `nodewise run` tells after the program has ended.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "cli/sites.hpp"
#include "launch/plan.hpp"
#include "launch/supervise.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// All that the words below are about.
struct run_result {
  const launch::plan& asked;
  const launch::outcome& found;
  const topology& here;
  site_namer name_site; ///< may be nothing

  /// What --memory says, as a word of the result file.
  [[nodiscard]] std::string_view placement() const;
  /// Whether it is known which thread a static loop gives each page to.
  [[nodiscard]] bool has_owners() const;
  /// Share of the located pages that are where they were asked to be, 0..1; nothing where no page
  /// was located, or where no page has a node of its own (interleaved, local).
  [[nodiscard]] std::optional<double> share_as_asked(const launch::object_report& object) const;
  /// Share of the located pages that are on the node of the thread that a static loop gives them;
  /// nothing for an object placed otherwise, or resized since, and where another number of threads
  /// ran than the layout has.
  [[nodiscard]] std::optional<double> local_share(const launch::process_report& process,
                                                  const launch::object_report& object) const;
  /// The entry of the plan file that decided about an object, by its position.
  [[nodiscard]] std::optional<std::size_t> entry_of(const launch::object_report& object) const;
  /// Unknown is no success: an object whose pages could not be located is not as asked.
  [[nodiscard]] bool is_as_asked(const launch::object_report& object) const;
  /// Whether all that was asked for memory has happened, as far as the agent could see: what
  /// --strict insists on.
  [[nodiscard]] bool is_as_asked() const;
};

/// For people: each process with its large objects, where their pages were, and its threads.
[[nodiscard]] std::string run_text(const run_result& result, const report::style& how);
/// The part of it about threads.
[[nodiscard]] std::string threads_text(const run_result& result,
                                       const launch::process_report& process);
/// Why an object is not where it should be, or in another way, in a few words; may be empty.
[[nodiscard]] std::string note_of(const run_result& result, const launch::object_report& object);
/// "solver.c:41", or the module and the offset; "" for a static array.
[[nodiscard]] std::string site_of(const run_result& result, const launch::object_report& object);

/// Which entries of the plan file fitted what; "" without one (run_plan.cpp).
[[nodiscard]] std::string plan_text(const run_result& result, const report::style& how);
/// The same for the result file, of the plan that was asked for. Without the agent nobody counted.
[[nodiscard]] nlohmann::ordered_json plan_json(const run_result& result,
                                               const launch::planned_file& plan);

/// `nodewise/run/1`.
[[nodiscard]] nlohmann::ordered_json run_json(const run_result& result);

} // namespace nodewise::cli
