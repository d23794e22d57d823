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

#include <string_view>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

#include "spec/node_purpose.hpp"

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

} // namespace nodewise::spec
