// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The objects of a profile, grouped by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profile/profile.hpp"

namespace nodewise::cli {

/// The objects with one name in one program.
struct profile_site {
  std::size_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t resident = 0;                      ///< pages
  std::vector<std::pair<node_id, double>> on_node; ///< 0..1 of its located pages, ascending
  std::optional<double> remote;                    ///< 0..1 of what was used, if observed
  double used = 0;                                 ///< and written back, in the program's unit
  std::string touched_at;           ///< the line that first touched most of it; empty if unknown
  std::size_t touching_lines = 0;   ///< lines that first touched it
  std::size_t touching_threads = 0; ///< 0: unknown
};

/// A program, and "solver.c:41", a symbol, a file's last part.
using site_key = std::pair<std::string, std::string>;

[[nodiscard]] std::map<site_key, profile_site> sites_of(const profile::profile& of);
/// "N0 75 %, N1 25 %"; "-" if no page is located.
[[nodiscard]] std::string nodes_text(const profile_site& of);
[[nodiscard]] nlohmann::ordered_json profile_site_json(const profile_site& of);

} // namespace nodewise::cli
