// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// LIKWID's thread domains: N is the machine, S0.. packages, D0.. dies, C0.. groups of processors
// that share the last cache, M0.. NUMA nodes.
#pragma once

#include "spec/parts.hpp"

namespace nodewise::spec {

/// Allowed processors only; empty if there are none.
struct likwid_domain {
  std::string tag;                        ///< "S0"
  std::vector<std::vector<cpu_id>> cores; ///< each with its hardware threads
  /// The order that indices count: the first hardware threads of all cores, then the second ones.
  std::vector<cpu_id> indexed;

  /// All hardware threads of one core, then of the next.
  [[nodiscard]] std::vector<cpu_id> core_by_core() const;
};

/// True for "N", "S0", or a single letter such as "S", which means all of a kind.
[[nodiscard]] bool is_likwid_domain(std::string_view name) noexcept;

/// The domains of a machine, with LIKWID's numbers.
class likwid_domains {
 public:
  likwid_domains(const topology& where, const parts& machine)
      : where_(where), machine_(machine), cores_(machine.cores()) {}

  /// The processors of each domain of a kind: 'N', 'S', 'D', 'C' or 'M'.
  [[nodiscard]] std::vector<cpu_set> sets_of(char letter) const;
  /// The domain of one of these sets, with its number among them.
  [[nodiscard]] likwid_domain make(char letter, std::size_t number, const cpu_set& cpus) const;

 private:
  [[nodiscard]] std::vector<cpu_set> packages() const;
  [[nodiscard]] std::vector<cpu_set> cache_groups() const;

  const topology& where_;
  const parts& machine_;
  std::vector<cpu_set> cores_;
};

} // namespace nodewise::spec
