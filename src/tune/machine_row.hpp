// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A row of the table of candidates (candidates.hpp) on one machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/team_layout.hpp>

namespace nodewise::tune {

enum class balancing_use { as_it_is, on, off };

struct machine_row {
  std::size_t threads = 0; ///< of --threads; 0: no such option
  bind_policy bind = bind_policy::none;
  place_kind places = place_kind::threads;
  smt_use smt = smt_use::as_needed;
  balancing_use balancing = balancing_use::as_it_is;
  node_set nodes;              ///< of -N; empty: no such option
  std::string memory;          ///< of --memory; empty: no such option
  std::string_view huge_pages; ///< of --huge-pages; empty: no such option
};

/// Of `nodewise run`, one word each.
[[nodiscard]] std::vector<std::string> options_of(const machine_row& of);

} // namespace nodewise::tune
