// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Workgroups as likwid-bench -w reads them: "S0:1GB:2:1:2-0:S1,1:S1".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::spec {

/// Threads, and the nodes of the arrays that they work on.
struct workgroup {
  std::vector<cpu_id> cpus; ///< a thread on each
  std::uint64_t bytes = 0;  ///< of all arrays together
  /// The node of each array, by its number; unknown_node if the text does not name it. The text
  /// does not name the node of any array beyond the end either.
  std::vector<node_id> arrays;
};

/// Parses DOMAIN:SIZE[:THREADS[:CHUNK:STRIDE]][-ARRAY:DOMAIN,...]. Chooses threads from the domain
/// like likwid-pin's expressions, by default all of its hardware threads; kB, MB and GB are powers
/// of 1000, as in LIKWID, KiB, MiB and GiB of 1024. Throws `error` (usage) that shows the invalid
/// part, and for an array's domain with more than one memory.
[[nodiscard]] workgroup parse_workgroup(std::string_view text, const topology& where,
                                        std::string_view root = "/");

} // namespace nodewise::spec
