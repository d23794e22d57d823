// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pages that are not where their first touch wanted them, since that memory was full.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/patterns.hpp"

namespace nodewise::advise {

struct overflow {
  std::size_t memory = nowhere;                ///< wanted by most of the pages that did not get it
  double wanted_bytes = 0;                     ///< by first touches, of all objects
  double missed_bytes = 0;                     ///< of these elsewhere
  std::vector<std::size_t> sites;              ///< with pages that missed it, ascending
  const profile::node_memory* state = nullptr; ///< of the memory; nullptr if unknown
};
/// `memory` is `nowhere` if pages are where they should be, or nobody knows.
[[nodiscard]] overflow overflow_of(const analysis& of, const std::vector<char>& free);

/// All pages where first touch puts them while there is room.
[[nodiscard]] course had_there_been_room(const analysis& of);

} // namespace nodewise::advise
