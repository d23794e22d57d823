// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Divides the processors of a host among the MPI ranks that run on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>
#include <nodewise/topology.hpp>

#include "base/environment.hpp"

namespace nodewise::launch {

/// The part of one rank.
struct rank_share {
  cpu_set cpus;
  std::size_t domains = 0; ///< number of domains
  std::size_t cores = 0;   ///< of all domains, if the number of ranks is known
  /// The number of ranks is unknown, so whole domains were assigned in turn, and this rank reuses a
  /// domain.
  bool came_round = false;
  /// A domain has more ranks than cores: some ranks share a core.
  bool shares_core = false;
  std::string device = {}; ///< of `share_near_device`: the rank's device, "gpu 0000:3b:00.0"
};

/// A domain is a node, a package or a core (`kind`) with its allowed processors. With as many ranks
/// as domains or fewer, rank r gets the r-th. With more, each domain gets ranks in proportion to
/// its cores, and consecutive ranks share a domain: whole cores, the numbers of which differ by at
/// most one within the domain. No two ranks get the same core unless there are more ranks than
/// cores. If the number of ranks is unknown, ranks get whole domains in turn. Throws `error`
/// (usage) if no processor is in a domain.
[[nodiscard]] rank_share share_of_rank(const topology& allowed, place_kind kind,
                                       const local_rank& rank);

/// With D devices (`spec::devices_of_kind`), rank r has the device with number r modulo D. It gets
/// the allowed processors of the nodes near this device, without those to which another device is
/// nearer. Ranks with the same processors divide them: whole cores, the numbers of which differ by
/// at most one. If the number of ranks is unknown, there is one for each device. Throws `error`
/// (usage) if there is no device, a device's nodes are unknown, or none of their processors is
/// allowed.
[[nodiscard]] rank_share share_near_device(const topology& allowed,
                                           const std::vector<device>& devices,
                                           std::string_view kind, const local_rank& rank);

} // namespace nodewise::launch
