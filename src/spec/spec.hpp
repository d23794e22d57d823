// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which processors, or which nodes, does a text name on that machine? The texts that users of
// numactl, hwloc and LIKWID already write: docs/specs.md.
//
// Whose a text is; the first line that fits decides:
//
// - a device's name, if it begins with netdev:, pci:, block:, file:, ip: or near:;
// - hwloc's, if it has a blank, begins with ~ or ^, or is machine or root;
// - hwloc's, if it begins, after an x or not, with 0x or with a word of hwloc's (core, os, ...) and
//   one of : = [ .
// - LIKWID's, if it has an @;
// - LIKWID's, if it begins with a domain (N, or S, D, C, M with digits or none) that ends there or
//   goes on with a colon, or with E: or L:;
// - numactl's otherwise, so plain numbers always are.
#pragma once

#include <string_view>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

namespace nodewise::spec {

enum class syntax { numactl, hwloc, likwid };

/// What nodes are wanted for: a node may have processors, memory, or both.
enum class node_purpose { processors, memory };

struct cpu_list {
  /// As the text lists them: LIKWID pins the k-th thread to the k-th. In numactl's and hwloc's
  /// syntax ascending and each once; LIKWID's may name one twice.
  std::vector<cpu_id> in_order;
  syntax read_as = syntax::numactl;

  [[nodiscard]] cpu_set cpus() const;
};

/// Whose syntax a text is in.
[[nodiscard]] syntax syntax_of(std::string_view text) noexcept;

// Devices and caches that the machine value does not tell are looked up in /sys when they are
// named, if the value describes the running system; with a `root` of its own, in that recorded
// tree.

/// Throws `error` (usage) for a text that makes no sense, for processors that are not there or not
/// allowed, and if none is left. The list is never empty.
[[nodiscard]] cpu_list resolve_cpus(std::string_view text, const topology& where,
                                    std::string_view root = "/");

/// Throws `error` (usage) for a text that makes no sense, a node that is not there, that this
/// process may not use, or that lacks what it is wanted for; and if none is left. The set is never
/// empty.
[[nodiscard]] node_set resolve_nodes(std::string_view text, const topology& where,
                                     node_purpose purpose, std::string_view root = "/");

/// How much of the machine a text needs from the small reader: nodes, cores or all. Devices are
/// read when they are named.
[[nodiscard]] sysfs_detail detail_for(std::string_view text) noexcept;

} // namespace nodewise::spec
