// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Resolves texts to the processors or nodes that they name on a machine. The texts are those that
// users of numactl, hwloc and LIKWID already write: docs/specs.md.
//
// The first matching line decides the syntax of a text:
//
// - a device's name, if it begins with netdev:, pci:, block:, file:, ip: or near:;
// - hwloc's, if it has a blank, begins with ~ or ^, or is machine or root;
// - hwloc's, if it begins, after an optional x, with 0x or with a word of hwloc's (core, os, ...)
//   and one of : = [ .
// - LIKWID's, if it has an @;
// - LIKWID's, if it begins with a domain (N, or S, D, C, M with or without digits) that ends there
//   or is followed by a colon, or with E: or L:;
// - numactl's otherwise: plain numbers always are.
#pragma once

#include "spec/numactl_list.hpp"

namespace nodewise::spec {

enum class syntax { numactl, hwloc, likwid };

struct cpu_list {
  /// In the order of the text: LIKWID pins the k-th thread to the k-th processor. Ascending and
  /// without duplicates in numactl's and hwloc's syntax; LIKWID's may name a processor twice.
  std::vector<cpu_id> in_order;

  [[nodiscard]] cpu_set cpus() const;
};

/// The syntax of a text.
[[nodiscard]] syntax syntax_of(std::string_view text) noexcept;

// If a text names devices or caches that the machine value lacks, they are looked up in /sys,
// provided that the value describes the running system; with another `root`, in that recorded tree.

/// Throws `error` (usage) for an invalid text, for processors that do not exist or are not allowed,
/// and if none is left. The list is never empty.
[[nodiscard]] cpu_list resolve_cpus(std::string_view text, const topology& where,
                                    std::string_view root = "/");

/// Throws `error` (usage) for an invalid text, for a node that does not exist, that this process
/// may not use, or that lacks the memory or processors of `purpose`; and if none is left. The set
/// is never empty.
[[nodiscard]] node_set resolve_nodes(std::string_view text, const topology& where,
                                     node_purpose purpose, std::string_view root = "/");

/// How much of the machine the sysfs reader must read for a text: nodes, cores or all. Devices are
/// read later, when a text names them.
[[nodiscard]] sysfs_detail detail_for(std::string_view text) noexcept;

// Workgroups as likwid-bench -w reads them: "S0:1GB:2:1:2-0:S1,1:S1".

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
