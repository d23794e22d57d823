// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Work as likwid-bench -w reads it: "S0:1GB:2:1:2-0:S1,1:S1".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::spec {

/// Threads, and where the arrays that they work on are.
struct workgroup {
  std::vector<cpu_id> cpus; ///< a thread on each
  std::uint64_t bytes = 0;  ///< of all arrays together
  /// By the array's number: its node; unknown_node where the text does not say. Those that are not
  /// listed are not said either.
  std::vector<node_id> arrays;
};

/// DOMAIN:SIZE[:THREADS[:CHUNK:STRIDE]][-ARRAY:DOMAIN,...]. Threads are taken from the domain as
/// likwid-pin's expressions take them, all of its hardware threads by default; kB, MB and GB are
/// powers of 1000, as there, KiB, MiB and GiB of 1024. Throws `error` (usage) that shows the part
/// that makes no sense, and for an array's domain with more than one memory.
[[nodiscard]] workgroup parse_workgroup(std::string_view text, const topology& where,
                                        std::string_view root = "/");

} // namespace nodewise::spec
