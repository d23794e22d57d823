// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which part of a machine belongs to one of its MPI ranks.
#pragma once

#include <cstddef>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

#include "base/local_rank.hpp"

namespace nodewise::launch {

/// The part of one rank.
struct rank_share {
  cpu_set cpus;
  std::size_t domains = 0; ///< number of domains
  /// The number of ranks is unknown, so whole domains were assigned in turn, and this rank reuses a
  /// domain.
  bool came_round = false;
  /// A domain has more ranks than cores: some ranks share a core.
  bool shares_core = false;
};

/// A domain is a node, a package or a core (`kind`) with its allowed processors. With as many ranks
/// as domains or fewer, rank r gets the r-th. With more, consecutive ranks share a domain in equal
/// parts of its cores. If the number of ranks is unknown, ranks get whole domains in turn. Throws
/// `error` (usage) if no processor is in a domain.
[[nodiscard]] rank_share share_of_rank(const topology& allowed, place_kind kind,
                                       const local_rank& rank);

} // namespace nodewise::launch
