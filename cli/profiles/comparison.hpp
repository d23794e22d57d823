// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Two profiles side by side: what `profile --compare` prints and what a page of two profiles shows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "cli/profiles/compared_findings.hpp"
#include "cli/profiles/sites.hpp"

namespace nodewise::cli {

/// The objects with one name in one program.
struct compared_site {
  site_key key;                       ///< before, or after if there was none before
  std::optional<site_key> after_key;  ///< if it has another name or program after
  std::optional<profile_site> before; ///< nullopt: absent
  std::optional<profile_site> after;

  [[nodiscard]] std::uint64_t bytes() const;
  /// "solver.c:41", "solver.c:41, then solver.c:43".
  [[nodiscard]] std::string name() const;
};

/// The model's outcome for the largest program as a whole.
struct compared_total {
  std::optional<double> remote; ///< 0..1
  std::optional<double> seconds;
};

struct compared_profiles {
  std::vector<compared_site> sites; ///< largest first
  std::vector<compared_finding> findings;
  compared_total before;
  compared_total after;
  std::vector<std::string> doubts; ///< why the two may not be compared as they are

  /// Of all sites, before or after.
  [[nodiscard]] double used(std::optional<profile_site> compared_site::* side) const;
};

/// Objects are matched by their name in programs of the same name. Of what is left, objects of one
/// program before and one after are matched if as many have this size before as after: by the
/// order of their names. `doubts` then says so. First rows must be joined (profile/first_rows.hpp).
[[nodiscard]] compared_profiles compare(const observed_profile& before,
                                        const observed_profile& after);

/// "46.3 % of the memory traffic was remote before, 0.1 % after; ...".
[[nodiscard]] std::string sentence_of(const compared_profiles& what);

/// The fields of `nodewise/comparison/1` beside its envelope.
void append(nlohmann::ordered_json& into, const compared_profiles& what);

} // namespace nodewise::cli
