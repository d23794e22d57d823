// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which part of a machine belongs to one of the MPI ranks that run on it.
#pragma once

#include <cstddef>
#include <optional>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

#include "base/local_rank.hpp"

namespace nodewise::launch {

/// The part of one rank.
struct rank_share {
  cpu_set cpus;
  std::size_t domains = 0; ///< that there are
  /// Whole domains were dealt out in turn because the number of ranks is unknown, and this one has
  /// come round.
  bool came_round = false;
  /// The ranks of a domain are more than its cores: some have the same core.
  bool shares_core = false;
};

/// A domain is a node, a package or a core (`kind`) with the processors of it that are allowed. As
/// many ranks as domains or fewer: rank r has the r-th. More: consecutive ranks fill a domain,
/// whose cores are dealt out in equal parts; if nobody says how many ranks there are, ranks have
/// whole domains in turn. Throws `error` (usage) if no processor is in a domain.
[[nodiscard]] rank_share share_of_rank(const topology& allowed, place_kind kind,
                                       const local_rank& rank);

} // namespace nodewise::launch
