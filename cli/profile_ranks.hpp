// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The ranks of an MPI run that were profiled together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profile/profile.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// One of them. Several together share memories and perhaps processors.
struct profiled_rank {
  int rank = 0;
  std::string processors;       ///< that it may run on; empty: unknown
  std::vector<node_id> nodes;   ///< that its threads were seen on, ascending
  std::size_t threads = 0;      ///< that were seen at work
  std::optional<double> remote; ///< 0..1 of what it used, where that was observed
};

/// By rank; empty where there is only one.
[[nodiscard]] std::vector<profiled_rank> ranks_of(const profile::profile& of);
/// A table, and which ranks may run on the same processors; empty where there are no ranks.
[[nodiscard]] std::string ranks_text(const profile::profile& of, const report::style& how);
[[nodiscard]] nlohmann::ordered_json ranks_json(const profile::profile& of);

} // namespace nodewise::cli
