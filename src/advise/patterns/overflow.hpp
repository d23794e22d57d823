// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pages that are not where their first touch wanted them, because that memory was full.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/patterns.hpp"

namespace nodewise::advise {

struct overflow {
  std::size_t memory = nowhere;                ///< wanted by most of the pages that did not get it
  double wanted_bytes = 0;                     ///< by first touches, over all objects
  double missed_bytes = 0;                     ///< the part of it that is elsewhere
  positions sites;                             ///< with pages that missed the memory, ascending
  const profile::node_memory* state = nullptr; ///< of the memory; nullptr if unknown
};
/// `memory` is `nowhere` if pages are where they should be, or if that is unknown.
[[nodiscard]] overflow overflow_of(const analysis& of, const std::vector<char>& free);
[[nodiscard]] overflow overflow_of(const analysis& of); ///< for all sites

/// The course with all pages where first touch would put them if there were room.
[[nodiscard]] course had_there_been_room(const analysis& of);

} // namespace nodewise::advise
