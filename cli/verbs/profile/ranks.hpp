// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the report of a profile says beside findings: its largest objects, and the ranks of an MPI
// run, profiled together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profile/profile.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// The largest objects by name, as a table.
[[nodiscard]] std::string sites_text(const profile::profile& of, const report::style& how);

/// One rank. Several ranks share memories and perhaps processors.
struct profiled_rank {
  int rank = 0;
  std::string processors;       ///< where it may run; empty: unknown
  std::vector<node_id> nodes;   ///< where its threads were seen, ascending
  std::size_t threads = 0;      ///< seen at work
  std::optional<double> remote; ///< 0..1 of what it used, if observed
};

/// Sorted by rank; empty if there is only one.
[[nodiscard]] std::vector<profiled_rank> ranks_of(const profile::profile& of);
/// A table, and which ranks may run on the same processors; empty if there are no ranks.
[[nodiscard]] std::string ranks_text(const profile::profile& of, const report::style& how);
[[nodiscard]] nlohmann::ordered_json ranks_json(const profile::profile& of);

} // namespace nodewise::cli
